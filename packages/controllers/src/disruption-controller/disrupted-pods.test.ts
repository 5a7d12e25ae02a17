/** Contract: docs/behaviour/controllers/disruption-controller.md, Disrupted map. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW_MS, pod, secondsAgo } from '../workload-support/fixtures.ts'
import { countHealthy, disruptedPods } from './disrupted-pods.ts'

const pods = ['a', 'b', 'c'].map((name) => pod({ name }))

test('what is awaited is looked at again when the first of them is overdue', () => {
  for (const [a, b] of [
    [60, 30],
    [30, 60],
  ] as const) {
    const known = { a: secondsAgo(a), b: secondsAgo(b) }
    const { kept, recheckAtMs } = disruptedPods(known, pods, NOW_MS)
    assert.deepEqual(kept, known)
    assert.equal(recheckAtMs, NOW_MS + 60_001)
    assert.equal(disruptedPods(known, pods, recheckAtMs).overdue.length, 1)
  }
})

test('an entry whose time cannot be read is overdue', () => {
  const { kept, overdue } = disruptedPods({ b: 'yesterday' }, pods, NOW_MS)
  assert.deepEqual(kept, {})
  assert.deepEqual(
    overdue.map(({ metadata }) => metadata?.name),
    ['b'],
  )
})

test('a pod may have a name that every object knows: nobody has evicted it for that', () => {
  const named = [pod({ name: 'constructor', readySeconds: 9 })]
  assert.deepEqual(disruptedPods({}, named, NOW_MS).overdue, [])
  assert.equal(countHealthy(named, {}, NOW_MS), 1)
})
