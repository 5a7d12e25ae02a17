import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicaSetCondition } from '@gyropilot/api'
import { NOW_MS, pod, pods, replicaSet, secondsAgo } from '../fixtures.ts'
import { isStatusCurrent, statusOf } from './status.ts'

const owner = replicaSet({ replicas: 2 })
const failure: ReplicaSetCondition = {
  type: 'ReplicaFailure',
  status: 'True',
  lastTransitionTime: secondsAgo(9),
  reason: 'FailedCreate',
  message: 'first',
}
const input = { owner, activePods: [], terminatingReplicas: undefined, nowMs: NOW_MS }
const conditionOf = (count: number, of = owner) =>
  statusOf({ ...input, owner: of, activePods: pods(count), manageError: new Error('no') })
    .conditions

test('what is zero or not counted is absent', () => {
  assert.deepEqual(statusOf(input), { replicas: 0 })
  assert.deepEqual(statusOf({ ...input, terminatingReplicas: 0 }), {
    replicas: 0,
    terminatingReplicas: 0,
  })
})

test('available are those that are ready for minReadySeconds, without them those that are ready', () => {
  const counts = (minReadySeconds: number) => {
    const activePods = [pod({ readySeconds: 9 }), pod({ readySeconds: 1 }), pod()]
    const of = replicaSet({ minReadySeconds })
    const { readyReplicas, availableReplicas } = statusOf({ ...input, owner: of, activePods })
    return [readyReplicas, availableReplicas]
  }
  assert.deepEqual(
    [counts(5), counts(0)],
    [
      [2, 1],
      [2, 2],
    ],
  )
})

test('a failure is of creations where pods are missing, of deletions where there are too many', () => {
  const told = { ...failure, lastTransitionTime: secondsAgo(0), message: 'no' }
  const { reason: _, ...neither } = told
  assert.deepEqual(conditionOf(1), [told])
  assert.deepEqual(conditionOf(3), [{ ...told, reason: 'FailedDelete' }])
  assert.deepEqual(conditionOf(2), [neither])
})

test('the first failure stays, also where the next is of another reason', () => {
  const failed = replicaSet({ replicas: 2, status: { replicas: 2, conditions: [failure] } })
  assert.deepEqual(conditionOf(3, failed), [failure])
})

const status = {
  replicas: 2,
  fullyLabeledReplicas: 3,
  readyReplicas: 4,
  availableReplicas: 5,
  terminatingReplicas: 6,
  conditions: [failure],
}
const written = replicaSet({ status: { ...status, observedGeneration: 1 } })

test('a status that says all of it is current', () => {
  assert.ok(isStatusCurrent(written, status))
  assert.ok(isStatusCurrent(written, { ...status, conditions: [...status.conditions] }))
})

const others = {
  ...Object.fromEntries(Object.keys(status).map((field) => [field, 99])),
  terminatingReplicas: undefined,
  conditions: [{ ...failure }],
}
for (const [field, other] of Object.entries(others)) {
  test(`it is not with another value of ${field}`, () => {
    assert.ok(!isStatusCurrent(written, { ...status, [field]: other }))
  })
}

test('it is not with a condition more or less, or of another generation', () => {
  assert.ok(!isStatusCurrent(written, { ...status, conditions: [] }))
  assert.ok(!isStatusCurrent(written, { ...status, conditions: [failure, failure] }))
  const newer = { ...written, metadata: { ...written.metadata, generation: 2 } }
  assert.ok(!isStatusCurrent(newer, status))
})
