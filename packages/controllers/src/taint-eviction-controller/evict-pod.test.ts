/** Contract: docs/behaviour/controllers/taint-eviction-controller.md, Deletion, Status and conditions, Events. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { evictPod } from './evict-pod.ts'
import { pod } from './fixtures.ts'

const victim = { namespace: 'test', name: 'p', uid: 'p-uid' }

test('a pod is told of, marked under its uid by a strategic merge patch of its status, and deleted without conditions', () => {
  const { effects, writes, events } = drive(evictPod(victim), {
    onRead: () => ({ ok: true, object: pod('p') }),
  })
  assert.deepEqual(
    effects.map(({ effect }) => effect),
    ['event', 'read', 'write', 'write'],
  )
  assert.deepEqual(events, [
    {
      type: 'Normal',
      reason: 'TaintManagerEviction',
      message: 'Marking for deletion Pod test/p',
    },
  ])
  const [mark, deletion] = writes
  assert.ok(mark?.verb === 'patch' && mark.patch.type === 'strategic')
  assert.deepEqual([mark.type, mark.subresource], [resources.pods, 'status'])
  const { metadata, status } = mark.patch.value as {
    metadata: unknown
    status: { conditions: readonly unknown[] }
  }
  assert.deepEqual(metadata, { uid: 'p-uid' })
  assert.deepEqual(status.conditions, [
    {
      type: 'DisruptionTarget',
      status: 'True',
      observedGeneration: 2,
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ])
  assert.ok(deletion?.verb === 'delete')
  assert.deepEqual(
    [deletion.namespace, deletion.name, 'options' in deletion ? deletion.options : undefined],
    ['test', 'p', undefined],
  )
})
