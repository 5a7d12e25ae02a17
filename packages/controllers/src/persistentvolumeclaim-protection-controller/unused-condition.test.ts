import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim, PersistentVolumeClaimCondition } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { tellUse } from './unused-condition.ts'

const resizing: PersistentVolumeClaimCondition = { type: 'Resizing', status: 'True' }
const used: PersistentVolumeClaimCondition = {
  type: 'Unused',
  status: 'False',
  reason: 'PodUsingPVC',
  message: 'A pod is currently referencing this PVC',
  lastTransitionTime: '2026-01-01T00:00:00Z',
}

function told(conditions: readonly PersistentVolumeClaimCondition[] | undefined, isUsed: boolean) {
  const claim: PersistentVolumeClaim = {
    metadata: { namespace: 'ns', name: 'c' },
    status: { phase: 'Bound', ...(conditions && { conditions }) },
  }
  const { writes, result } = drive(tellUse(claim, isUsed))
  assert.ok(result.ok)
  const written = writes.map((write) =>
    write.verb === 'update' && write.subresource === 'status' ? write.object : write.verb,
  )
  return { written, status: result.object.status }
}

test('the condition comes to those that are there, and the rest of the status stays', () => {
  assert.deepEqual(told([resizing], true).status, { phase: 'Bound', conditions: [resizing, used] })
  assert.deepEqual(told(undefined, true).status, { phase: 'Bound', conditions: [used] })
})

test('what it says already is not written', () => {
  const known = { ...used, lastTransitionTime: '2025-01-01T00:00:00Z' }
  assert.deepEqual(told([known], true).written, [])
  assert.equal(told([known], false).written.length, 1)
})
