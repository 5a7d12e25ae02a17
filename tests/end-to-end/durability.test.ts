import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGyro } from './gyro-process.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

test('what was answered with 2xx survives kill -9, and resourceVersions only grow', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'durability-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const answered = new Map<string, number>()
  let highest = 0
  for (let round = 0; round < 4; round++) {
    const gyro = await startGyro(['--components=api-server', `--data-dir=${join(folder, 'data')}`])
    const { body } = await gyro.request(CONFIG_MAPS)
    const stored = new Map<string, number>(
      body.items.map((item: { metadata: { name: string; resourceVersion: string } }) => [
        item.metadata.name,
        Number(item.metadata.resourceVersion),
      ]),
    )
    for (const [name, version] of answered)
      assert.equal(stored.get(name), version, `${name} in round ${round}`)
    assert.ok(Number(body.metadata.resourceVersion) >= highest)
    // Writes go on while the process is killed: those without an answer may be there or not.
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; ; n++) {
        const name = `round-${round}-${writer}-${n}`
        const object = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name },
          data: { n: String(n) },
        }
        const answer = await gyro
          .request(CONFIG_MAPS, { method: 'POST', body: object })
          .catch(() => undefined)
        if (answer === undefined) return
        assert.equal(answer.status, 201)
        const version = Number(answer.body.metadata.resourceVersion)
        answered.set(name, version)
        highest = Math.max(highest, version)
      }
    })
    const before = answered.size
    while (answered.size < before + 60) await new Promise((resolve) => setImmediate(resolve))
    await gyro.stop('SIGKILL')
    await Promise.all(writers)
  }
  assert.ok(answered.size >= 240)
})

test('a Deployment goes on after a restart with its data directory', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'durability-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const labels = { app: 'web' }
  const containers = [{ name: 'web', image: 'nginx:latest' }]
  const data = `--data-dir=${join(folder, 'data')}`
  const first = await startGyro([data])
  first.apply({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  })
  first.ok('rollout', 'status', 'deploy/web', '--timeout=10s')
  const before = first
    .json('get', 'pods')
    .items.map((pod: { metadata: { uid: string } }) => pod.metadata.uid)
  await first.stop('SIGKILL')
  const second = await startGyro([data])
  t.after(() => second.stop())
  const after = second
    .json('get', 'pods')
    .items.map((pod: { metadata: { uid: string } }) => pod.metadata.uid)
  assert.deepEqual(after.toSorted(), before.toSorted(), 'the same pods, still running')
  second.ok('scale', 'deploy/web', '--replicas=3')
  second.ok('rollout', 'status', 'deploy/web', '--timeout=10s')
})
