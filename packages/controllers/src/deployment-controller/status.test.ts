import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeploymentStatus } from '@gyropilot/api'
import { secondsAgo } from '../workload-support/fixtures.ts'
import { sameStatus, wireStatus } from './status.ts'

const condition = {
  type: 'Available',
  status: 'True',
  reason: 'R',
  message: 'm',
  lastUpdateTime: secondsAgo(1),
  lastTransitionTime: secondsAgo(2),
} as const
const status: DeploymentStatus = {
  observedGeneration: 1,
  replicas: 2,
  updatedReplicas: 3,
  readyReplicas: 4,
  availableReplicas: 5,
  unavailableReplicas: 6,
  terminatingReplicas: 7,
  collisionCount: 8,
  conditions: [condition, { ...condition, type: 'Progressing' }],
}

test('a copy is the same status', () => {
  assert.ok(sameStatus(status, structuredClone(status)))
})

const counters = Object.keys(status).filter((field) => field !== 'conditions')
for (const field of counters) {
  test(`another ${field} is another status`, () => {
    assert.ok(!sameStatus(status, { ...status, [field]: 99 }))
  })
}

for (const field of Object.keys(condition)) {
  test(`another ${field} of a condition is another status`, () => {
    const other = { ...condition, [field]: 'other' }
    assert.ok(!sameStatus(status, { ...status, conditions: [other, status.conditions![1]!] }))
  })
}

test('one condition more or less is another status', () => {
  assert.ok(!sameStatus(status, { ...status, conditions: [condition] }))
  assert.ok(!sameStatus({ ...status, conditions: [condition] }, status))
})

test('on the wire nothing stands for what is absent', () => {
  const absent = { terminatingReplicas: undefined, collisionCount: undefined, conditions: [] }
  assert.deepEqual(wireStatus({ replicas: 0, ...absent }), {})
  assert.deepEqual(wireStatus(status), status)
  assert.deepEqual(wireStatus({ terminatingReplicas: 0, collisionCount: 0 }), {
    terminatingReplicas: 0,
    collisionCount: 0,
  })
})
