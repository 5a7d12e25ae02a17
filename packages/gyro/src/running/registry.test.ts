import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { virtualClock } from '@gyropilot/foundation/testing'
import { mergeInto } from '../kubeconfig/merge.ts'
import { forgetLeft } from './leave.ts'
import { processIdentity, residentBytes } from './process-identity.ts'
import { ClusterRegistry } from './registry.ts'
import { clusterName, parseRunningCluster, withoutToken } from './running-cluster.ts'
import type { RunningCluster } from './running-cluster.ts'
import { meant, noneText, theOne } from './which.ts'

let folder: string
let registry: ClusterRegistry
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'registry-'))
  registry = new ClusterRegistry(join(folder, 'clusters'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function cluster(over: Partial<RunningCluster> = {}): RunningCluster {
  return {
    name: 'gyro-a',
    processId: process.pid,
    processIdentity: processIdentity(process.pid)!,
    folder: '/a',
    args: [],
    since: '2026-01-01T00:00:00Z',
    version: '0.1.0',
    server: 'https://127.0.0.1:1',
    kubeconfig: join(folder, 'own'),
    dataDir: '',
    parts: [],
    ...over,
  }
}

test('a token is shown to nobody', () => {
  const args = ['--token', 'secret', '--nodes=2', '--token=secret', '--detach']
  assert.deepEqual(withoutToken(cluster({ args })).args, [
    '--token',
    'REDACTED',
    '--nodes=2',
    '--token=REDACTED',
    '--detach',
  ])
})

test('a process is known by its start, not by its number alone', () => {
  assert.deepEqual(registry.running(), [])
  registry.write(cluster())
  assert.deepEqual(registry.running(), [cluster()])
  assert.equal(statSync(join(registry.directory, `${process.pid}.json`)).mode & 0o777, 0o600)
  const reused = cluster({ processIdentity: 'of another start' })
  registry.write(reused)
  assert.deepEqual([registry.running(), registry.left()], [[], [reused]])
  assert.equal(processIdentity(2 ** 22 + 1), undefined)
  assert.ok(residentBytes(process.pid)! > 10_000_000)
  assert.equal(residentBytes(2 ** 22 + 1), undefined)
})

test('what is damaged is passed over', () => {
  registry.write(cluster())
  for (const text of ['', 'null', '{}', '[', '{"name":"a"}']) {
    assert.equal(parseRunningCluster(text), undefined)
    writeFileSync(join(registry.directory, '1.json'), text)
    assert.equal(registry.running().length, 1)
  }
})

test('of those that were killed the file goes, and the entries in the kubeconfig', async () => {
  const clock = virtualClock()
  const merged = join(folder, 'config')
  const killed = cluster({ processIdentity: 'gone', merged })
  writeFileSync(
    killed.kubeconfig,
    'clusters: [{name: g, cluster: {}}]\nusers: [{name: a, user: {}}]\ncontexts: [{name: g, context: {}}]\n',
  )
  await mergeInto(merged, killed, clock)
  registry.write(killed)
  assert.deepEqual(await forgetLeft(registry, clock), [killed])
  assert.ok(!existsSync(join(registry.directory, `${process.pid}.json`)))
  assert.doesNotMatch(readFileSync(merged, 'utf8'), /gyro-a/)
  // A kubeconfig that cannot be edited keeps nobody from starting.
  writeFileSync(merged, 'a: [')
  registry.write(killed)
  await forgetLeft(registry, clock)
  assert.deepEqual(registry.left(), [])
})

test('of those that were killed the private keys go, but not from under one that runs with the same files', async () => {
  const keys = ['a.key', 'b.key', 'shared.key'].map((name) => join(folder, name))
  for (const file of keys.slice(1)) writeFileSync(file, 'secret')
  registry.write(cluster({ keyFiles: keys.slice(2) }))
  registry.write(cluster({ processId: 2 ** 22 + 1, keyFiles: keys }))
  await forgetLeft(registry, virtualClock())
  assert.deepEqual(
    keys.map((file) => existsSync(file)),
    [false, false, true],
  )
  assert.equal(registry.running().length, 1)
})

test('the cluster of this folder is meant, unless a process is named', () => {
  const [a, b, c] = [
    cluster({ processId: 1 }),
    cluster({ processId: 2 }),
    cluster({ processId: 3, folder: '/c' }),
  ]
  const here = { folder: '/c', processId: 0 }
  assert.deepEqual(meant([a, b, c], here), [c])
  assert.deepEqual(meant([a, b, c], { ...here, all: true }), [a, b, c])
  assert.equal(theOne([a, b, c], [], here), c)
  assert.equal(theOne([a, b, c], [], { ...here, processId: 2 }), b)
  assert.throws(() => theOne([a, b, c], [], { folder: '/a', processId: 0 }), {
    code: 'CLUSTER_AMBIGUOUS',
    message:
      'several clusters run in /a: choose one with --process, of 1 (https://127.0.0.1:1), 2 (https://127.0.0.1:1)',
  })
  assert.throws(() => theOne([], [], here), { code: 'CLUSTER_NOT_RUNNING' })
  assert.throws(() => theOne([a], [c], here), {
    code: 'CLUSTER_NOT_RUNNING',
    message:
      'the cluster of /c (process 3, https://127.0.0.1:1) has ended and was not stopped: gyro up starts one again, gyro down clears away after it',
  })
  assert.equal(noneText([], here), 'no cluster runs: start one with gyro up')
  const elsewhere = { folder: '/x', processId: 0 }
  assert.equal(
    noneText([a], elsewhere),
    'no cluster runs in /x, elsewhere one does: see gyro status --all',
  )
  assert.match(noneText([a, b], elsewhere), /elsewhere 2 do/)
  assert.match(noneText([a], { ...here, processId: 7 }), /^process 7 runs no cluster/)
})

test('a cluster is called after its folder, with the port where that name is taken', () => {
  for (const [path, name] of [
    ['/home/a/shop', 'gyro-shop'],
    ['/home/a/my shop (new)', 'gyro-my-shop-new-'],
    ['/', 'gyro'],
  ] as const)
    assert.equal(clusterName(path, 6443, []), name)
  assert.equal(clusterName('/b/shop', 6444, [{ name: 'gyro-shop' }]), 'gyro-shop-6444')
})
