import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { pod } from './fixtures.ts'
import { markPodsNotReady } from './mark-pods.ts'

function marked(pods: readonly Pod[], answers: Parameters<typeof drive>[1] = {}) {
  const driven = drive(markPodsNotReady(pods, 'n'), answers)
  return {
    ...driven,
    names: driven.writes.flatMap((write) => ('name' in write ? [write.name] : [])),
  }
}
const failing = (code: number, reason: string) => ({
  onWrite: (_: unknown, index: number) => refused(code, reason, `no ${index}`),
})

test('pods of the node that are ready, or say that it is unknown, are marked and told; no others are', () => {
  const { names, events, result } = marked([
    pod('ready', 'n'),
    pod('unknown', 'n', 'Unknown'),
    pod('already', 'n', 'False'),
    pod('silent', 'n', 'absent'),
    pod('elsewhere', 'other'),
  ])
  assert.deepEqual(names, ['ready', 'unknown'])
  const event = { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' }
  assert.deepEqual(events, [event, event])
  assert.equal(result, undefined)
})

test('the condition alone is written, of the version that was seen', () => {
  const seen = pod('p', 'n')
  const versioned = { ...seen, metadata: { ...seen.metadata, resourceVersion: '7' } }
  const [write] = marked([versioned]).writes
  assert.ok(write?.verb === 'patch' && write.patch.type === 'strategic')
  assert.deepEqual([write.name, write.subresource], ['p', 'status'])
  assert.deepEqual(write.patch.value, {
    metadata: { resourceVersion: '7' },
    status: {
      '$setElementOrder/conditions': [{ type: 'Ready' }],
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'r',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  })
})

test('a pod that is gone is neither told nor an error', () => {
  const { names, events, result } = marked([pod('a', 'n'), pod('b', 'n')], failing(404, 'NotFound'))
  assert.deepEqual([names, events, result], [['a', 'b'], [], undefined])
})

test('another error is told too, the rest is still marked, and the first one is the answer', () => {
  const { names, events, result } = marked(
    [pod('a', 'n'), pod('b', 'n')],
    failing(500, 'InternalError'),
  )
  assert.deepEqual([names, events.length], [['a', 'b'], 2])
  assert.equal((result as Error).message, 'no 0')
})
