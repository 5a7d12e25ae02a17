import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodCondition } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { NOW_MS, pod, refused, secondsAgo } from '../workload-support/fixtures.ts'
import { reconcileStalePod, staleAfterMs } from './stale-condition.ts'

interface Target {
  readonly seconds?: number
  readonly reason?: string
  readonly status?: PodCondition['status']
}

function target(given: Target = {}, options: Parameters<typeof pod>[0] = {}): Pod {
  const made = pod({ readySeconds: 1, ...options })
  const condition: PodCondition = {
    type: 'DisruptionTarget',
    status: given.status ?? 'True',
    reason: given.reason ?? 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: secondsAgo(given.seconds ?? 121),
  }
  const conditions = [condition, ...(made.status?.conditions ?? [])]
  return {
    ...made,
    metadata: { ...made.metadata, generation: 4 },
    status: { ...made.status, conditions },
  }
}

function withoutTime(): Pod {
  const made = pod()
  const conditions = [{ type: 'DisruptionTarget', status: 'True' as const }]
  return { ...made, status: { ...made.status, conditions } }
}

const CASES: readonly (readonly [string, Pod, number | undefined])[] = [
  ['announced long ago', target({ seconds: 1_000 }), 0],
  ['two minutes ago', target({ seconds: 120 }), 0],
  ['a minute ago', target({ seconds: 60 }), 60_000],
  ['nobody knows when', withoutTime(), 0],
  ['False already', target({ status: 'False' }), undefined],
  ['by the kubelet', target({ reason: 'TerminationByKubelet' }), undefined],
  ['succeeded', target({}, { phase: 'Succeeded' }), undefined],
  ['failed', target({}, { phase: 'Failed' }), undefined],
  ['on its way out', target({}, { deleting: true }), undefined],
  ['without an announcement', pod(), undefined],
]
for (const [title, given, expected] of CASES) {
  test(`how long until an announced disruption is stale: ${title}`, () => {
    assert.equal(staleAfterMs(given, NOW_MS), expected)
  })
}

test('Given DisruptionTarget True for 2 min + 1 s without deletion, then it becomes False; at 2 min - 1 s it stays; terminating pods stay True', () => {
  const { writes, result } = drive(reconcileStalePod(target()))
  const [write] = writes
  assert.ok(write?.verb === 'patch' && write.subresource === 'status')
  // Reason and message are emptied, other conditions stay, and a pod that has changed is a conflict.
  assert.deepEqual(write.patch, {
    type: 'strategic',
    value: {
      metadata: { resourceVersion: '20' },
      status: {
        '$setElementOrder/conditions': [{ type: 'DisruptionTarget' }, { type: 'Ready' }],
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'False',
            reason: null,
            message: null,
            observedGeneration: 4,
            lastTransitionTime: secondsAgo(0),
          },
        ],
      },
    },
  })
  assert.equal(result, undefined)
  const early = drive(reconcileStalePod(target({ seconds: 119 })))
  assert.deepEqual([early.writes, early.result], [[], { requeueAfterMs: 1_000 }])
  assert.deepEqual(drive(reconcileStalePod(target({}, { deleting: true }))).writes, [])
})

test('a refused write is retried, a conflict too', () => {
  for (const code of [409, 500]) {
    const { result } = drive(reconcileStalePod(target()), {
      onWrite: () => refused(code, 'x', 'no'),
    })
    assert.equal(((result as { error?: Error }).error as Error).message, 'no')
  }
})
