/**
 * Exchanges recorded from kube-apiserver 1.36, replayed against the embedded server by `replay.mjs`: status, body, messages and
 * managedFields. What differs stands in known-differences.json with its reason; an entry that has become equal must go.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startCluster } from './in-process-cluster.ts'

interface Replayed {
  readonly totals: Readonly<Record<string, { readonly steps: number }>>
  /** `group/scenario [step] what differs` */
  readonly failures: readonly string[]
}

const RECORDED_STEPS = 15304

function replay(server: string, token: string): Promise<Replayed> {
  const folder = mkdtempSync(join(tmpdir(), 'exchanges-'))
  const json = join(folder, 'result.json')
  const script = join(import.meta.dirname, 'replay.mjs')
  const args = [script, '--server', server, '--token', token, '--parallel', '16', '--json', json]
  return new Promise((resolve, reject) => {
    const player = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    player.once('error', reject)
    player.once('exit', () => {
      const result = JSON.parse(readFileSync(json, 'utf8')) as Replayed
      rmSync(folder, { recursive: true })
      resolve(result)
    })
  })
}

test('the embedded server gives the answers kube-apiserver gives', { timeout: 300_000 }, async (t) => {
  const { cluster, server, stop } = await startCluster({ controllers: false })
  t.after(stop)
  const { totals, failures } = await replay(server, cluster.administratorToken)
  const steps = Object.values(totals).reduce((sum, group) => sum + group.steps, 0)
  assert.equal(steps, RECORDED_STEPS, 'every recorded step was played')
  const known = JSON.parse(
    readFileSync(join(import.meta.dirname, 'known-differences.json'), 'utf8'),
  ) as Readonly<Record<string, string>>
  const stepOf = (failure: string): string => failure.slice(0, failure.indexOf(']') + 1)
  const unexpected = failures.filter((failure) => !(stepOf(failure) in known))
  assert.deepEqual(unexpected, [])
  const differing = new Set(failures.map(stepOf))
  const equalNow = Object.keys(known).filter((step) => !differing.has(step))
  assert.deepEqual(equalNow, [], 'these are equal now: remove them from known-differences.json')
})
