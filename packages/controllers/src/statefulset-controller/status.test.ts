import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW_MS } from '../workload-support/fixtures.ts'
import { CURRENT, UPDATE, setPod, statefulSet } from './fixtures.ts'
import { countPods, isStatusCurrent, statusOf } from './status.ts'
import type { PodCounts } from './status.ts'

const set = statefulSet({ replicas: 2 })
const rules = { minReadySeconds: 0, nowMs: NOW_MS, current: CURRENT, update: UPDATE }
const none: PodCounts = {
  replicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  currentReplicas: 0,
  updatedReplicas: 0,
}
const revisions = { current: CURRENT, update: UPDATE, collisionCount: 0 }

test('each counter counts what it says', () => {
  const pods = [
    setPod(set, 0),
    setPod(set, 1, { revision: UPDATE, readySeconds: 5 }),
    setPod(set, 2, { readySeconds: null }),
    setPod(set, 3, { revision: 'db-third', phase: 'Pending' }),
    setPod(set, 4, { deleting: true }),
    { ...setPod(set, 5), status: {} },
  ]
  assert.deepEqual(countPods(pods, { ...rules, minReadySeconds: 10 }), {
    replicas: 5,
    readyReplicas: 3,
    availableReplicas: 2,
    currentReplicas: 2,
    updatedReplicas: 1,
  })
  assert.equal(countPods(pods, rules).availableReplicas, 3)
})

test('Terminating pods still count in status.replicas', () => {
  const counts = countPods([setPod(set, 0, { deleting: true })], rules)
  assert.deepEqual(counts, { ...none, replicas: 1, readyReplicas: 1, availableReplicas: 1 })
})

test('while both revisions are one, a pod counts as current and as updated', () => {
  const counts = countPods([setPod(set, 0)], { ...rules, update: CURRENT })
  assert.deepEqual([counts.currentReplicas, counts.updatedReplicas], [1, 1])
})

test('zero counters are absent but for two, and the collision count is always there', () => {
  assert.deepEqual(statusOf(set, none, revisions), {
    observedGeneration: 1,
    replicas: 0,
    availableReplicas: 0,
    currentRevision: CURRENT,
    updateRevision: UPDATE,
    collisionCount: 0,
  })
})

const through: PodCounts = {
  replicas: 2,
  readyReplicas: 2,
  availableReplicas: 0,
  currentReplicas: 0,
  updatedReplicas: 2,
}

test('Completion resets currentReplicas to updatedReplicas in the same write; availability is not required', () => {
  assert.deepEqual(statusOf(set, through, revisions), {
    observedGeneration: 1,
    replicas: 2,
    readyReplicas: 2,
    availableReplicas: 0,
    currentReplicas: 2,
    updatedReplicas: 2,
    currentRevision: UPDATE,
    updateRevision: UPDATE,
    collisionCount: 0,
  })
})

for (const [title, counts] of [
  ['a pod is not updated', { ...through, updatedReplicas: 1 }],
  ['a pod is not ready', { ...through, readyReplicas: 1 }],
  ['a pod is too many', { ...through, replicas: 3 }],
] as const) {
  test(`a rollout is not through while ${title}`, () => {
    assert.equal(statusOf(set, counts, revisions).currentRevision, CURRENT)
  })
}

test('a set with OnDelete never completes', () => {
  const manual = statefulSet({ replicas: 2, spec: { updateStrategy: { type: 'OnDelete' } } })
  const { currentRevision, currentReplicas } = statusOf(manual, through, revisions)
  assert.deepEqual([currentRevision, currentReplicas], [CURRENT, undefined])
})

const written = statusOf(set, { ...through, updatedReplicas: 1, currentReplicas: 1 }, revisions)

test('a status that says the same is not written', () => {
  assert.ok(isStatusCurrent(statefulSet({ status: written }), written))
  assert.ok(
    isStatusCurrent(statefulSet({ status: { ...written, observedGeneration: 9 } }), written),
  )
  assert.ok(isStatusCurrent(statefulSet({ status: written }), { ...written, collisionCount: 3 }))
})

for (const change of [
  { observedGeneration: 2 },
  { replicas: 3 },
  { readyReplicas: 1 },
  { availableReplicas: 1 },
  { currentReplicas: 0 },
  { updatedReplicas: 2 },
  { currentRevision: 'other' },
  { updateRevision: 'other' },
]) {
  test(`a status with other ${Object.keys(change)[0]} is written`, () => {
    assert.ok(!isStatusCurrent(statefulSet({ status: written }), { ...written, ...change }))
  })
}

test('a set without a generation has none that was observed', () => {
  const { generation: _, ...metadata } = set.metadata!
  assert.ok(!('observedGeneration' in statusOf({ ...set, metadata }, none, revisions)))
})

test('a generation that nobody counts is no reason to write', () => {
  const { observedGeneration: _, ...uncounted } = written
  assert.ok(isStatusCurrent(statefulSet({ status: uncounted }), uncounted))
  assert.ok(
    !isStatusCurrent(statefulSet({ status: uncounted }), { ...uncounted, observedGeneration: 1 }),
  )
})

test('an absent counter is zero, and an absent number of replicas is one', () => {
  const { readyReplicas: _, ...absent } = written
  const zero = { ...absent, readyReplicas: 0 }
  assert.ok(isStatusCurrent(statefulSet({ status: zero }), absent))
  assert.ok(isStatusCurrent(statefulSet({ status: absent }), zero))
  const { replicas: __, ...spec } = statefulSet().spec!
  const one = { ...through, replicas: 1, readyReplicas: 1, updatedReplicas: 1 }
  assert.equal(statusOf({ ...set, spec }, one, revisions).currentRevision, UPDATE)
})
