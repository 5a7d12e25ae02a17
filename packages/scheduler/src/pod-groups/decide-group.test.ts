import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '@gyropilot/api/testing'
import type { Attempt } from '../placer.ts'
import { decideGroup } from './decide-group.ts'

const WAITS =
  'pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod'
const PREEMPTS = 'pod group is unschedulable, pod group is waiting for preemption to complete'
const FULL = '0/1 nodes are available: 1 Insufficient cpu.'

const placed = (name: string): Attempt => ({
  kind: 'placed',
  pod: pod({ name }),
  node: 'n',
  volumes: undefined,
})
const full = (name: string, more: object = { nomination: '' }): Attempt => ({
  kind: 'refused',
  pod: pod({ name }),
  reason: 'Unschedulable',
  message: FULL,
  ...more,
})
const room = { node: 'n', victims: [], budgetViolations: 0 }
const preempting = (name: string): Attempt => full(name, { nomination: 'n', room })
/** With a promise from before. */
const nominated = <T extends Attempt>(attempt: T): T => {
  const name = attempt.pod.metadata?.name ?? ''
  return { ...attempt, pod: pod({ name, status: { nominatedNodeName: 'n' } }) }
}
/** Its room was promised, and is not free yet. */
const promised = (name: string): Attempt => nominated(full(name, {}))

interface Row {
  readonly title: string
  readonly attempts: readonly Attempt[]
  readonly minCount: number
  readonly scheduled?: number
  readonly bound: readonly string[]
  /** By pod: the message, and what becomes of its nomination. */
  readonly refused: readonly (readonly [string, string, string?])[]
  readonly condition: readonly [status: string, reason: string, message: string]
}

const SCHEDULED = ['True', 'Scheduled', ''] as const
const UNSCHEDULABLE = ['False', 'Unschedulable', 'pod group is unschedulable'] as const

const ROWS: readonly Row[] = [
  {
    title: 'a gang that fits is bound',
    attempts: [placed('a'), placed('b')],
    minCount: 2,
    bound: ['a', 'b'],
    refused: [],
    condition: SCHEDULED,
  },
  {
    title: 'a gang that does not fit is not bound, and each pod says why',
    attempts: [placed('a'), full('b')],
    minCount: 2,
    bound: [],
    refused: [
      ['a', WAITS, ''],
      ['b', FULL, ''],
    ],
    condition: UNSCHEDULABLE,
  },
  {
    title: 'enough pods are bound, and the others wait alone',
    attempts: [placed('a'), placed('b'), full('c')],
    minCount: 2,
    bound: ['a', 'b'],
    refused: [['c', FULL, '']],
    condition: SCHEDULED,
  },
  {
    title: 'pods that have a node already count',
    attempts: [placed('c'), full('d')],
    minCount: 3,
    scheduled: 2,
    bound: ['c'],
    refused: [['d', FULL, '']],
    condition: SCHEDULED,
  },
  {
    title: 'too few with those that have a node already',
    attempts: [placed('c'), full('d')],
    minCount: 3,
    scheduled: 1,
    bound: [],
    refused: [
      ['c', WAITS, ''],
      ['d', FULL, ''],
    ],
    condition: UNSCHEDULABLE,
  },
  {
    title: 'a gang that is scheduled and whose next pod does not fit stays so',
    attempts: [full('d')],
    minCount: 3,
    scheduled: 3,
    bound: [],
    refused: [['d', FULL, '']],
    condition: SCHEDULED,
  },
  {
    title: 'a group whose pods need not wait for each other is scheduled with its first pod',
    attempts: [full('a'), placed('b')],
    minCount: 0,
    bound: ['b'],
    refused: [['a', FULL, '']],
    condition: SCHEDULED,
  },
  {
    title: 'such a group without a pod that fits',
    attempts: [full('a')],
    minCount: 0,
    bound: [],
    refused: [['a', FULL, '']],
    condition: UNSCHEDULABLE,
  },
  {
    title: 'room is made before any pod is bound',
    attempts: [placed('a'), preempting('b')],
    minCount: 2,
    bound: [],
    refused: [
      ['a', PREEMPTS, ''],
      ['b', FULL, 'n'],
    ],
    condition: ['False', 'Unschedulable', PREEMPTS],
  },
  {
    title: 'no room is made for a gang that would not fit then',
    attempts: [placed('a'), preempting('b'), full('c')],
    minCount: 3,
    bound: [],
    refused: [
      ['a', WAITS, ''],
      ['b', WAITS, ''],
      ['c', FULL, ''],
    ],
    condition: UNSCHEDULABLE,
  },
  {
    title: 'while room is being made for one, others keep what they were promised',
    attempts: [placed('a'), promised('b')],
    minCount: 2,
    bound: [],
    refused: [
      ['a', WAITS],
      ['b', FULL],
    ],
    condition: UNSCHEDULABLE,
  },
  ...[
    [placed('a'), full('b', {})],
    [placed('a'), nominated(full('b'))],
    [nominated(placed('a')), full('b', {})],
  ].map((attempts, at) => ({
    title: `nobody waits for room: what was promised is given up (${at})`,
    attempts,
    minCount: 2,
    bound: [],
    refused: [
      ['a', WAITS, ''] as const,
      at === 1 ? (['b', FULL, ''] as const) : (['b', FULL] as const),
    ],
    condition: UNSCHEDULABLE,
  })),
]

for (const { title, attempts, minCount, scheduled = 0, bound, refused, condition } of ROWS)
  test(title, () => {
    const decision = decideGroup(attempts, { minCount, scheduled })
    assert.deepEqual(
      decision.bound.map((one) => one.pod.metadata?.name),
      bound,
    )
    assert.deepEqual(
      decision.refused.map(({ pod: { metadata }, message, nomination }) =>
        nomination === undefined
          ? [metadata?.name, message]
          : [metadata?.name, message, nomination],
      ),
      refused,
    )
    assert.deepEqual(Object.values(decision.condition), condition)
    const isMade = decision.refused.some((one) => one.room !== undefined)
    assert.equal(isMade, decision.condition.message === PREEMPTS)
  })

test('pods that need no room made are due again soon: they may be enough', () => {
  const { refused } = decideGroup([placed('a'), preempting('b')], { minCount: 1, scheduled: 0 })
  assert.deepEqual(
    refused.map(({ isDueAnyway }) => isDueAnyway),
    [true, undefined],
  )
  const later = decideGroup([placed('a'), promised('b')], { minCount: 1, scheduled: 0 })
  assert.equal(later.bound.length, 1)
})
