import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodCondition } from '@gyropilot/api'
import { conditionPatch } from './condition-patch.ts'
import { disruptionTarget, hasCondition } from './disruption-target.ts'
import { NOW_MS, pod, secondsAgo } from './fixtures.ts'

const base = pod()

function having(...conditions: readonly PodCondition[]) {
  return { ...base, status: { ...base.status, conditions } }
}
function target(pod = base): PodCondition {
  return disruptionTarget(pod, NOW_MS, 'DeletionByTaintManager', 'Taint manager: deleting')
}
const said: PodCondition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting',
  lastTransitionTime: secondsAgo(9),
}

test('a condition tells why, since when, and of which generation if the pod has one', () => {
  assert.deepEqual(target(), { ...said, lastTransitionTime: secondsAgo(0) })
  const second = { ...base, metadata: { ...base.metadata, generation: 2 } }
  assert.equal(target(second).observedGeneration, 2)
})

test('since when stays as long as it is true, and begins anew where it was not', () => {
  assert.equal(target(having({ ...said, reason: 'Other' })).lastTransitionTime, secondsAgo(9))
  assert.equal(target(having({ ...said, status: 'False' })).lastTransitionTime, secondsAgo(0))
  const { lastTransitionTime: _, ...timeless } = said
  assert.equal(target(having(timeless)).lastTransitionTime, secondsAgo(0))
})

test('a pod says so already where status, reason and message are the same', () => {
  const wanted = { ...said, observedGeneration: 7, lastTransitionTime: secondsAgo(0) }
  assert.ok(hasCondition(having(said), wanted))
  assert.ok(!hasCondition(base, wanted))
  for (const other of [{ status: 'False' }, { reason: 'R' }, { message: 'm' }, { type: 'T' }]) {
    assert.ok(!hasCondition(having({ ...said, ...other } as PodCondition), wanted))
  }
})

test('a patch of a condition keeps the order of the others, and puts a new one last', () => {
  const ready: PodCondition = { type: 'Ready', status: 'True' }
  const last: PodCondition = { type: 'Last', status: 'True' }
  assert.deepEqual(conditionPatch(having(ready, last), said), {
    '$setElementOrder/conditions': [
      { type: 'Ready' },
      { type: 'Last' },
      { type: 'DisruptionTarget' },
    ],
    conditions: [said],
  })
  assert.deepEqual(conditionPatch(having(ready, said, last), said), {
    '$setElementOrder/conditions': [
      { type: 'Ready' },
      { type: 'DisruptionTarget' },
      { type: 'Last' },
    ],
    conditions: [said],
  })
})
