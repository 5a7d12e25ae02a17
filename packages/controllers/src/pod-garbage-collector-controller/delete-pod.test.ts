import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { deletePod } from './delete-pod.ts'
import { pod } from './fixtures.ts'

function deleting(target: Pod, isOrphan = false, options: DriveOptions = {}) {
  const { writes, result } = drive(deletePod(target, { isOrphan }), options)
  return { writes, result, verbs: writes.map(({ verb }) => verb) }
}

function patchedStatus(target: Pod, isOrphan = false): unknown {
  const [write] = deleting(target, isOrphan).writes
  assert.ok(write?.verb === 'patch')
  assert.equal(write.subresource, 'status')
  assert.equal(write.patch.type, 'strategic')
  return write.patch.value
}

const condition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
  observedGeneration: 3,
  lastTransitionTime: '2026-01-01T00:00:00Z',
}

test('Given a Running orphan with Ready=True, then it is patched with phase Failed and DisruptionTarget, then deleted with grace 0', () => {
  const conditions = [{ type: 'Ready', status: 'True' }]
  const orphan = pod('p', { node: 'gone', generation: 3, status: { conditions } })
  const { writes, verbs, result } = deleting(orphan, true)
  assert.deepEqual([verbs, result], [['patch', 'delete'], undefined])
  assert.deepEqual(patchedStatus(orphan, true), {
    metadata: { uid: 'p-uid' },
    status: {
      phase: 'Failed',
      observedGeneration: 3,
      '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'DisruptionTarget' }],
      conditions: [condition],
    },
  })
  const last = writes.at(-1)
  assert.ok(last?.verb === 'delete')
  assert.deepEqual(
    [last.namespace, last.name, last.options],
    ['ns', 'p', { gracePeriodSeconds: 0, preconditions: { uid: 'p-uid' } }],
  )
})

test('the other steps add no condition, and what did not change is not sent', () => {
  assert.deepEqual(patchedStatus(pod('p')), {
    metadata: { uid: 'p-uid' },
    status: { phase: 'Failed', observedGeneration: 1 },
  })
  const observed = pod('p', { generation: 2, status: { observedGeneration: 2 } })
  assert.deepEqual(patchedStatus(observed), {
    metadata: { uid: 'p-uid' },
    status: { phase: 'Failed' },
  })
  const { metadata, ...rest } = observed
  const { generation: _, ...unnumbered } = metadata!
  assert.deepEqual(patchedStatus({ ...rest, metadata: unnumbered }), {
    metadata: { uid: 'p-uid' },
    status: { phase: 'Failed' },
  })
})

test('a condition that is True already keeps its time, one that is not gets a new one', () => {
  const before = '2025-01-01T00:00:00Z'
  const known = (status: string) => ({
    conditions: [{ type: 'DisruptionTarget', status, lastTransitionTime: before }],
  })
  const timeOf = (target: Pod): unknown =>
    (patchedStatus(target, true) as { status: { conditions: { lastTransitionTime: string }[] } })
      .status.conditions[0]!.lastTransitionTime
  assert.equal(timeOf(pod('p', { status: known('True') })), before)
  assert.equal(timeOf(pod('p', { status: known('False') })), '2026-01-01T00:00:00Z')
  const { status } = patchedStatus(pod('p', { status: known('True') }), true) as {
    status: Record<string, unknown>
  }
  assert.deepEqual(status['$setElementOrder/conditions'], [{ type: 'DisruptionTarget' }])
})

for (const phase of ['Succeeded', 'Failed']) {
  test(`${phase} Pods on a deleted node keep their phase and get no DisruptionTarget condition.`, () => {
    assert.deepEqual(deleting(pod('p', { phase }), true).verbs, ['delete'])
  })
}

for (const phase of ['Pending', 'Unknown', '']) {
  test(`a pod of phase ${phase || '(none)'} is declared failed first`, () => {
    assert.deepEqual(deleting(pod('p', { phase })).verbs, ['patch', 'delete'])
  })
}

test('a refused patch stops it, 404 included; a refused delete is an error', () => {
  for (const refusal of [refused(404, 'NotFound'), refused(500, 'InternalError')]) {
    const { verbs, result } = deleting(pod('p'), false, { onWrite: () => refusal })
    assert.deepEqual(verbs, ['patch'])
    assert.equal(result, (refusal as { error: unknown }).error)
  }
  const refusal = refused(404, 'NotFound')
  const { verbs, result } = deleting(pod('p'), false, {
    onWrite: ({ verb }) => (verb === 'delete' ? refusal : undefined),
  })
  assert.deepEqual(verbs, ['patch', 'delete'])
  assert.equal(result, (refusal as { error: unknown }).error)
})
