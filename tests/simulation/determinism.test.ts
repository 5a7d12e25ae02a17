/** The same seed, the same history: byte for byte, in one process and in another. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createCluster, scaled, simulate } from '@gyropilot/cluster'

const FAST_REST = { quietMs: 60_000 }

test('a seed run twice has the same history, and another seed has another', async () => {
  const hashes = new Set<string>()
  for (const seed of ['one', 'two', 'three']) {
    const run = { seed, minutes: 3, rates: scaled(1), rest: FAST_REST }
    const first = await simulate(run)
    const second = await simulate(run)
    assert.equal(second.historyHash, first.historyHash, `seed ${seed}`)
    assert.ok(first.writes > 50, `only ${first.writes} writes`)
    hashes.add(first.historyHash)
  }
  assert.equal(hashes.size, 3)
})

test('two clusters side by side do not disturb each other', async () => {
  const alone = await simulate({ seed: 'a', minutes: 2, rates: scaled(1), rest: FAST_REST })
  const [first, second] = await Promise.all([
    simulate({ seed: 'a', minutes: 2, rates: scaled(1), rest: FAST_REST }),
    simulate({ seed: 'b', minutes: 2, rates: scaled(1), rest: FAST_REST }),
  ])
  assert.equal(first.historyHash, alone.historyHash)
  assert.notEqual(second.historyHash, alone.historyHash)
})

test('gyro simulate in another process has the same history, and exit code 0', async () => {
  const here = await simulate({ seed: '7', minutes: 2, rates: scaled(1) })
  const binary = join(import.meta.dirname, '../../bin/gyro')
  const args = ['simulate', '--seed', '7', '--minutes', '2', '--output', 'json']
  const { stdout } = await promisify(execFile)(binary, args)
  const there = JSON.parse(stdout)
  assert.equal(there.historyHash, here.historyHash)
  assert.equal(there.seed, '7')
  assert.equal(there.writes, here.writes)
  assert.deepEqual(there.faults, here.faults)
  assert.deepEqual(there.violations, [])
  assert.ok(there.virtualSeconds > 600)
  assert.ok(there.realSeconds > 0)
})

test('no virtual time passes in real time, and none of it is lost', async () => {
  const cluster = await createCluster({ seed: 1, nodes: 1 })
  const startedMs = cluster.virtualMs
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(cluster.virtualMs, startedMs)
  await cluster.advance(3_600_000)
  assert.equal(cluster.virtualMs, startedMs + 3_600_000)
})
