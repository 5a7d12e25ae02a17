import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DaemonSet, Node, Pod } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { HASH, OLD_HASH, daemonPod, daemonSet, node, nodes } from './fixtures.ts'
import { nodeDecisions } from './node-decision.ts'
import { podsByNode } from './pods-by-node.ts'
import { countsOf, writeCounts } from './status.ts'
import type { Counts } from './status.ts'

function counted(pods: readonly Pod[], onNodes: readonly Node[], owner = daemonSet()) {
  const decide = nodeDecisions()
  return countsOf({
    daemonSet: owner,
    hash: HASH,
    nodes: onNodes,
    pods: podsByNode(pods),
    decide,
    nowMs: NOW_MS,
  })
}

const NONE: Counts = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
  updatedNumberScheduled: 0,
  numberAvailable: 0,
  numberUnavailable: 0,
}

test('each count is of nodes', () => {
  const pods = [
    daemonPod('n0', { readySeconds: 10 }),
    daemonPod('n1', { readySeconds: 9 }),
    daemonPod('n2', { hash: OLD_HASH }),
    daemonPod('closed'),
    daemonPod('gone'),
  ]
  const closed = node('closed', { taints: [{ key: 'k', effect: 'NoSchedule' }] })
  const empty = node('other', { taints: [{ key: 'k', effect: 'NoSchedule' }] })
  const owner = daemonSet({ minReadySeconds: 10 })
  assert.deepEqual(counted(pods, [...nodes(4), closed, empty], owner), {
    currentNumberScheduled: 3,
    numberMisscheduled: 1,
    desiredNumberScheduled: 4,
    numberReady: 2,
    updatedNumberScheduled: 2,
    numberAvailable: 1,
    numberUnavailable: 3,
  })
})

test('without minReadySeconds a ready pod is available', () => {
  const { numberAvailable, numberUnavailable } = counted(
    [daemonPod('n0', { readySeconds: 0 })],
    nodes(1),
  )
  assert.deepEqual([numberAvailable, numberUnavailable], [1, 0])
})

test('A NoSchedule taint added later does not evict the pod, but the node then counts as misscheduled, not desired.', () => {
  const closed = node('n', { taints: [{ key: 'k', effect: 'NoSchedule' }] })
  assert.deepEqual(counted([daemonPod('n', { readySeconds: 5 })], [closed]), {
    ...NONE,
    numberMisscheduled: 1,
  })
})

test('of several pods of a node the first counts: bound before waiting, then the oldest', () => {
  const first = daemonPod('n', { name: 'b', hash: OLD_HASH, readySeconds: 5 })
  const second = daemonPod('n', { name: 'a', ageSeconds: 5 })
  const waiting = daemonPod('n', { name: 'w', ageSeconds: 99, waiting: true })
  const { numberReady, updatedNumberScheduled } = counted(
    [waiting, second, first],
    nodes(0).concat(node('n')),
  )
  assert.deepEqual([numberReady, updatedNumberScheduled], [1, 0])
})

const counts: Counts = { ...NONE, desiredNumberScheduled: 2, numberUnavailable: 2 }

function writing(
  owner: DaemonSet,
  options: Parameters<typeof drive>[1] = {},
  observesGeneration = true,
) {
  const { writes, result } = drive(writeCounts(owner, counts, { observesGeneration }), options)
  const statuses = writes.map((write) => {
    assert.ok(write.verb === 'update' && write.subresource === 'status')
    return (write.object as DaemonSet).status
  })
  return { statuses, result }
}

test('zero counts of three kinds are absent, what others wrote stays', () => {
  const conditions = [{ type: 'Other', status: 'True' }]
  const owner = daemonSet({
    status: { updatedNumberScheduled: 1, numberAvailable: 1, collisionCount: 2, conditions },
  })
  assert.deepEqual(writing(owner).statuses, [
    {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 2,
      numberReady: 0,
      observedGeneration: 1,
      numberUnavailable: 2,
      collisionCount: 2,
      conditions,
    },
  ])
})

test('all counts of a set that is as it should be are written, and nothing beside them', () => {
  const full: Counts = {
    ...NONE,
    currentNumberScheduled: 2,
    desiredNumberScheduled: 2,
    numberReady: 2,
    updatedNumberScheduled: 2,
    numberAvailable: 2,
  }
  const { writes } = drive(writeCounts(daemonSet(), full, { observesGeneration: true }))
  const [write] = writes
  assert.ok(write?.verb === 'update')
  const { numberUnavailable: _, ...written } = full
  assert.deepEqual((write.object as DaemonSet).status, { ...written, observedGeneration: 1 })
})

test('a status that is as it should be is not written', () => {
  assert.deepEqual(
    writing(daemonSet({ status: { ...counts, observedGeneration: 1 } })).statuses,
    [],
  )
  assert.deepEqual(
    writing(daemonSet({ status: { ...counts, observedGeneration: 2 } })).statuses,
    [],
  )
  const behind = daemonSet({ status: counts })
  assert.equal(writing(behind).statuses.length, 1)
  assert.deepEqual(writing(behind, {}, false).statuses, [])
})

for (const name of Object.keys(NONE) as (keyof Counts)[]) {
  test(`a change of ${name} alone is written`, () => {
    const status = { ...counts, observedGeneration: 1, [name]: 7 }
    assert.equal(writing(daemonSet({ status })).statuses.length, 1)
  })
}

test('observedGeneration must not advance while expectations are pending.', () => {
  const owner = daemonSet({ metadata: { generation: 4 }, status: { observedGeneration: 3 } })
  assert.deepEqual(
    [writing(owner, {}, false), writing(owner)].map(
      ({ statuses }) => statuses[0]?.observedGeneration,
    ),
    [3, 4],
  )
  const unseen = daemonSet({ metadata: { generation: 4 } })
  assert.ok(!('observedGeneration' in writing(unseen, {}, false).statuses[0]!))
})

test('after a refusal it is written once more on the live object', () => {
  const live = daemonSet({
    metadata: { resourceVersion: '99', generation: 9 },
    status: { collisionCount: 5 },
  })
  const conflict = refused(409, 'Conflict')
  const onRead: NonNullable<DriveOptions['onRead']> = (read) => {
    assert.ok(read.verb === 'get')
    assert.deepEqual([read.type.kind, read.namespace, read.name], ['DaemonSet', 'ns', 'ds'])
    return { ok: true, object: live }
  }
  const once = writing(daemonSet(), {
    onRead,
    onWrite: (_, index) => (index === 0 ? conflict : undefined),
  })
  assert.equal(once.result, undefined)
  assert.deepEqual(
    once.statuses.map((status) => [status?.collisionCount, status?.observedGeneration]),
    [
      [undefined, 1],
      [5, 1],
    ],
  )
  const twice = writing(daemonSet(), { onRead, onWrite: () => conflict })
  assert.deepEqual(
    [twice.statuses.length, twice.result],
    [2, (conflict as { error: unknown }).error],
  )
})

test('a live object that cannot be read, or is a namesake by now, ends it', () => {
  const gone = refused(404, 'NotFound')
  const conflict = refused(409, 'Conflict')
  const namesake = { ok: true, object: daemonSet({ metadata: { uid: 'later' } }) } as const
  for (const [live, end] of [
    [gone, gone],
    [namesake, conflict],
  ] as const) {
    const { statuses, result } = writing(daemonSet(), {
      onRead: () => live,
      onWrite: () => conflict,
    })
    assert.deepEqual([statuses.length, result], [1, (end as { error: unknown }).error])
  }
})
