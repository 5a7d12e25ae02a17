import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeploymentCondition, DeploymentStatus, ReplicaSet } from '@gyropilot/api'
import { NOW_MS, secondsAgo } from '../workload-support/fixtures.ts'
import { deployment, outcome, owned, rollout } from './fixtures.ts'
import { madeProgress, untilDeadlineMs, writeRolloutStatus } from './progress.ts'
import { isComplete, sameStatus, statusOf, terminatingReplicasOf } from './status.ts'

const settings = { terminatingReplicas: true }

function progressing(
  reason: string,
  status: 'True' | 'False' | 'Unknown',
  updatedSeconds: number,
  transitionSeconds = updatedSeconds,
): DeploymentCondition {
  return {
    type: 'Progressing',
    status,
    reason,
    message: 'm',
    lastUpdateTime: secondsAgo(updatedSeconds),
    lastTransitionTime: secondsAgo(transitionSeconds),
  }
}
const available: DeploymentCondition = {
  type: 'Available',
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
  lastUpdateTime: secondsAgo(500),
  lastTransitionTime: secondsAgo(500),
}

/**
 * A rollout of 3 whose new ReplicaSet has so many pods available, and whose status was as given.
 */
function evaluated(
  status: DeploymentStatus,
  pods: { replicas: number; available: number },
  spec = {},
) {
  const web = deployment({ replicas: 3, status, spec })
  const driven = outcome(
    writeRolloutStatus(rollout(web, owned(web, { name: 'rs', ...pods })), settings),
  )
  const written = driven.statusWrites[0]?.status
  return {
    ...driven,
    written,
    progress: written?.conditions?.find(({ type }) => type === 'Progressing'),
  }
}

const stuck: DeploymentStatus = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  unavailableReplicas: 3,
  terminatingReplicas: 0,
}

test('a complete rollout is Progressing True/NewReplicaSetAvailable', () => {
  const { progress } = evaluated(
    { ...stuck, conditions: [progressing('ReplicaSetUpdated', 'True', 9)] },
    { replicas: 3, available: 3 },
  )
  assert.deepEqual(progress, {
    type: 'Progressing',
    status: 'True',
    lastUpdateTime: secondsAgo(0),
    lastTransitionTime: secondsAgo(9),
    reason: 'NewReplicaSetAvailable',
    message: 'ReplicaSet "rs" has successfully progressed.',
  })
})

test('progress replaces the condition; lastTransitionTime kept if it was already True', () => {
  const before = { ...stuck, conditions: [available, progressing('ReplicaSetUpdated', 'True', 9)] }
  const { progress } = evaluated(before, { replicas: 3, available: 1 })
  assert.equal(progress?.lastUpdateTime, secondsAgo(0))
  assert.equal(progress?.lastTransitionTime, secondsAgo(9))
  assert.equal(progress?.message, 'ReplicaSet "rs" is progressing.')
})

test('progress after a timeout is a transition', () => {
  const before = { ...stuck, conditions: [progressing('ProgressDeadlineExceeded', 'False', 9)] }
  const { progress } = evaluated(before, { replicas: 3, available: 1 })
  assert.deepEqual([progress?.status, progress?.lastTransitionTime], ['True', secondsAgo(0)])
})

test('Given pods never ready and deadline 3 s, then ProgressDeadlineExceeded; after ready, NewReplicaSetAvailable', () => {
  const before = { ...stuck, conditions: [available, progressing('ReplicaSetUpdated', 'True', 4)] }
  const late = evaluated(before, { replicas: 3, available: 0 }, { progressDeadlineSeconds: 3 })
  assert.deepEqual(
    [late.progress?.status, late.progress?.reason],
    ['False', 'ProgressDeadlineExceeded'],
  )
  assert.equal(late.progress?.message, 'ReplicaSet "rs" has timed out progressing.')
  const ready = evaluated(
    late.written!,
    { replicas: 3, available: 3 },
    { progressDeadlineSeconds: 3 },
  )
  assert.deepEqual(
    [ready.progress?.status, ready.progress?.reason],
    ['True', 'NewReplicaSetAvailable'],
  )
})

test('Given a stuck rollout 30 s into a 60 s deadline, when unchanged, then requeue after 30 s (+1 s)', () => {
  const before = { ...stuck, conditions: [available, progressing('ReplicaSetUpdated', 'True', 30)] }
  const { statusWrites, verdict } = evaluated(
    before,
    { replicas: 3, available: 0 },
    { progressDeadlineSeconds: 60 },
  )
  assert.deepEqual(statusWrites, [])
  assert.deepEqual(verdict, { requeueAfterMs: 31_000 })
})

test('a clock that is behind the one that wrote the condition makes the deadline later, by as much', () => {
  const before = {
    ...stuck,
    conditions: [available, progressing('ReplicaSetUpdated', 'True', -90)],
  }
  const { statusWrites, verdict } = evaluated(
    before,
    { replicas: 3, available: 0 },
    { progressDeadlineSeconds: 60 },
  )
  assert.deepEqual(statusWrites, [])
  assert.deepEqual(verdict, { requeueAfterMs: 151_000 })
})

test('below one second the next look is soon, and not before the deadline', () => {
  const conditions = [progressing('ReplicaSetUpdated', 'True', 60)]
  const web = deployment({
    status: { ...stuck, conditions },
    spec: { progressDeadlineSeconds: 60 },
  })
  assert.equal(untilDeadlineMs(web, stuck, NOW_MS), 5)
  assert.equal(untilDeadlineMs(web, stuck, NOW_MS - 400), 405)
  assert.equal(untilDeadlineMs(web, stuck, NOW_MS - 1000), 2000)
})

test('at the deadline to the millisecond it is not missed yet', () => {
  const before = { ...stuck, conditions: [available, progressing('ReplicaSetUpdated', 'True', 60)] }
  const spec = { progressDeadlineSeconds: 60 }
  assert.deepEqual(evaluated(before, { replicas: 3, available: 0 }, spec).statusWrites, [])
})

test('a status that never said how it goes cannot be too late', () => {
  const before = { ...stuck, conditions: [available] }
  const spec = { progressDeadlineSeconds: 1 }
  assert.deepEqual(evaluated(before, { replicas: 3, available: 0 }, spec).statusWrites, [])
})

test('of a completed rollout pods that come back are no progress; a next template is', () => {
  const conditions = [available, progressing('NewReplicaSetAvailable', 'True', 9)]
  const { written, progress } = evaluated({ ...stuck, conditions }, { replicas: 3, available: 1 })
  assert.equal(written?.availableReplicas, 1)
  assert.deepEqual(progress, conditions[1])
  const web = deployment({ replicas: 3, status: { ...stuck, updatedReplicas: 0, conditions } })
  const [fresh, old] = [
    owned(web, { name: 'new', replicas: 1, available: 0 }),
    owned(web, { name: 'old', image: 'x', replicas: 3 }),
  ]
  const next = outcome(writeRolloutStatus(rollout(web, fresh, old), settings))
  assert.equal(next.statusWrites[0]?.status?.conditions?.[1]?.reason, 'ReplicaSetUpdated')
})

test('a succeeded rollout does not time out in the middle of the next, which has not begun to move', () => {
  const status = { ...stuck, replicas: 4, updatedReplicas: 1, unavailableReplicas: 4 }
  const conditions = [available, progressing('NewReplicaSetAvailable', 'True', 9999)]
  const web = deployment({ replicas: 3, status: { ...status, conditions } })
  const [fresh, old] = [
    owned(web, { name: 'new', replicas: 1, available: 0 }),
    owned(web, { name: 'old', image: 'x', replicas: 3, available: 0 }),
  ]
  const driven = outcome(writeRolloutStatus(rollout(web, fresh, old), settings))
  assert.deepEqual(driven.statusWrites, [])
})

test('a condition that somebody wrote without its times is past its deadline, and stalls nothing', () => {
  for (const lastUpdateTime of [undefined, null as unknown as undefined, 'yesterday']) {
    const condition = { ...progressing('ReplicaSetUpdated', 'True', 1), lastUpdateTime }
    const { progress } = evaluated(
      { ...stuck, conditions: [available, condition] },
      { replicas: 3, available: 0 },
      { progressDeadlineSeconds: 60 },
    )
    assert.equal(progress?.reason, 'ProgressDeadlineExceeded')
    const web = deployment({
      status: { ...stuck, conditions: [condition] },
      spec: { progressDeadlineSeconds: 60 },
    })
    assert.equal(untilDeadlineMs(web, stuck, NOW_MS), 5)
  }
})

test('a rollout that has succeeded is not looked at again and again while a pod of it is not available', () => {
  const before = {
    ...stuck,
    conditions: [available, progressing('NewReplicaSetAvailable', 'True', 9999)],
  }
  const { statusWrites, verdict } = evaluated(
    before,
    { replicas: 3, available: 0 },
    { progressDeadlineSeconds: 60 },
  )
  assert.deepEqual(statusWrites, [])
  assert.deepEqual(verdict, { requeueAfterMs: undefined })
})

test('no look is planned for a complete or timed out rollout, or without a condition or a deadline', () => {
  const of = (conditions: readonly DeploymentCondition[], spec = {}) =>
    deployment({ replicas: 3, status: { conditions }, spec })
  const complete = { ...stuck, availableReplicas: 3 }
  assert.equal(
    untilDeadlineMs(of([progressing('NewReplicaSetAvailable', 'True', 1)]), complete, NOW_MS),
    undefined,
  )
  assert.equal(
    untilDeadlineMs(of([progressing('ProgressDeadlineExceeded', 'False', 1)]), stuck, NOW_MS),
    undefined,
  )
  assert.equal(untilDeadlineMs(of([]), stuck, NOW_MS), undefined)
  assert.equal(
    untilDeadlineMs(
      of([progressing('x', 'True', 1)], { progressDeadlineSeconds: undefined }),
      stuck,
      NOW_MS,
    ),
    undefined,
  )
})

test('A completed rollout (reason NewReplicaSetAvailable) never times out later when pods die.', () => {
  const before = {
    ...stuck,
    conditions: [available, progressing('NewReplicaSetAvailable', 'True', 9999)],
  }
  const { statusWrites } = evaluated(before, { replicas: 3, available: 0 })
  assert.deepEqual(statusWrites, [])
})

test('without a deadline Progressing is removed', () => {
  const before = { ...stuck, conditions: [available, progressing('ReplicaSetUpdated', 'True', 9)] }
  const { written } = evaluated(
    before,
    { replicas: 3, available: 0 },
    { progressDeadlineSeconds: 2_147_483_647 },
  )
  assert.deepEqual(written?.conditions, [available])
})

test('With no new RS the messages start with Deployment "<name>"', () => {
  const conditions = [available, progressing('ReplicaSetUpdated', 'True', 999)]
  const web = deployment({
    replicas: 3,
    status: { observedGeneration: 1, terminatingReplicas: 0, conditions },
  })
  const driven = outcome(writeRolloutStatus(rollout(web, undefined), settings))
  const progress = driven.statusWrites[0]?.status?.conditions?.find(
    ({ type }) => type === 'Progressing',
  )
  assert.equal(progress?.message, 'Deployment "web" has timed out progressing.')
})

test('progress is more new, fewer old, more ready or more available pods', () => {
  const before = { replicas: 5, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3 }
  assert.ok(madeProgress(before, { ...before, updatedReplicas: 3, replicas: 6 }))
  assert.ok(madeProgress(before, { ...before, replicas: 4 }))
  assert.ok(madeProgress(before, { ...before, readyReplicas: 4 }))
  assert.ok(madeProgress(before, { ...before, availableReplicas: 4 }))
  assert.ok(!madeProgress(before, { ...before, readyReplicas: 2, availableReplicas: 1 }))
})

const failure = {
  type: 'ReplicaFailure',
  status: 'True',
  reason: 'FailedCreate',
  message: 'quota',
  lastTransitionTime: secondsAgo(7),
}
const failed = (set: ReplicaSet, reason: string): ReplicaSet => ({
  ...set,
  status: { ...set.status!, conditions: [{ ...failure, reason }] },
})

test('ReplicaFailure is copied from the new RS, else from any RS, and removed when none', () => {
  const web = deployment({ replicas: 3 })
  const [fresh, old] = [
    owned(web, { name: 'new', replicas: 1 }),
    owned(web, { name: 'old', image: 'x', replicas: 2 }),
  ]
  const conditionOf = (newSet: ReplicaSet, oldSet: ReplicaSet, of = web) =>
    outcome(
      writeRolloutStatus(rollout(of, newSet, oldSet), settings),
    ).statusWrites[0]?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
  assert.equal(conditionOf(failed(fresh, 'New'), failed(old, 'Old'))?.reason, 'New')
  assert.deepEqual(conditionOf(fresh, failed(old, 'Old')), {
    ...failure,
    reason: 'Old',
    lastUpdateTime: secondsAgo(7),
  })
  assert.equal(
    conditionOf(fresh, old, deployment({ replicas: 3, status: { conditions: [failure] } })),
    undefined,
  )
})

test('status sums use RS status, not pods; unavailable is never negative', () => {
  const web = deployment({ replicas: 3, status: { collisionCount: 2 } })
  const fresh = owned(web, {
    name: 'new',
    replicas: 2,
    status: {
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 1,
      observedGeneration: 1,
    },
  })
  const old = owned(web, {
    name: 'old',
    replicas: 0,
    status: {
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      terminatingReplicas: 2,
      observedGeneration: 1,
    },
  })
  const { conditions, ...sums } = statusOf(rollout(web, fresh, old), settings, NOW_MS)
  assert.deepEqual(sums, {
    observedGeneration: 1,
    replicas: 5,
    updatedReplicas: 2,
    readyReplicas: 5,
    availableReplicas: 4,
    terminatingReplicas: 3,
    collisionCount: 2,
  })
  assert.equal(conditions?.[0]?.status, 'True')
})

test('Available compares with R - maxUnavailable', () => {
  const web = deployment({ replicas: 4 })
  const statusWith = (count: number) =>
    statusOf(rollout(web, owned(web, { replicas: 4, available: count })), settings, NOW_MS)
      .conditions?.[0]
  assert.equal(statusWith(3)?.status, 'True')
  assert.equal(statusWith(2)?.status, 'False')
  assert.equal(statusWith(3)?.message, 'Deployment has minimum availability.')
  assert.equal(statusWith(2)?.message, 'Deployment does not have minimum availability.')
})

test('terminatingReplicas: RSs never observed are skipped; any other RS with null makes the sum null', () => {
  const web = deployment()
  const counted = owned(web, {
    name: 'a',
    status: { replicas: 0, terminatingReplicas: 2, observedGeneration: 1 },
  })
  const fresh = owned(web, { name: 'b', status: { replicas: 0 } })
  const silent = owned(web, { name: 'c', status: { replicas: 0, observedGeneration: 1 } })
  assert.equal(terminatingReplicasOf([counted, fresh]), 2)
  assert.equal(terminatingReplicasOf([counted, silent]), undefined)
  assert.equal(terminatingReplicasOf([]), 0)
  assert.equal(
    statusOf(rollout(web, counted), { terminatingReplicas: false }, NOW_MS).terminatingReplicas,
    undefined,
  )
})

test('complete: updated, total and available are R, and this generation was observed', () => {
  const web = deployment({ replicas: 3 })
  const status = { updatedReplicas: 3, replicas: 3, availableReplicas: 3, observedGeneration: 1 }
  assert.ok(isComplete(web, status))
  for (const short of [
    { updatedReplicas: 2 },
    { replicas: 4 },
    { availableReplicas: 2 },
    { observedGeneration: 0 },
  ]) {
    assert.ok(!isComplete(web, { ...status, ...short }))
  }
  const empty = deployment({ replicas: 0, metadata: { generation: undefined } })
  assert.ok(isComplete(empty, undefined))
  assert.ok(!isComplete(deployment({ replicas: 1, metadata: { generation: undefined } }), {}))
})

test('Conditions are not refreshed when only the message changes (same status and reason), except ReplicaSetUpdated.', () => {
  const before = {
    ...stuck,
    conditions: [{ ...available, message: 'other' }, progressing('ReplicaSetUpdated', 'True', 9)],
  }
  assert.deepEqual(evaluated(before, { replicas: 3, available: 0 }).statusWrites, [])
})

test('zero and absent counters are the same status; an unknown terminatingReplicas is not zero', () => {
  assert.ok(sameStatus({ replicas: 0 }, {}))
  assert.ok(sameStatus(undefined, { conditions: [] }))
  assert.ok(!sameStatus({ terminatingReplicas: 0 }, {}))
  assert.ok(!sameStatus({ collisionCount: 1 }, {}))
})

test('a counter that is not there is 0', () => {
  assert.ok(!madeProgress(undefined, {}))
  assert.ok(!madeProgress({}, {}))
  for (const field of ['updatedReplicas', 'readyReplicas', 'availableReplicas']) {
    const [before, after] = [{ replicas: 1 }, { replicas: 1, [field]: 1 }]
    assert.ok(madeProgress(before, after), field)
    assert.ok(!madeProgress(after, { ...after, replicas: 2 }), field)
  }
  assert.ok(madeProgress({ replicas: 1 }, {}))
  assert.ok(!madeProgress({}, { replicas: 1 }))
  assert.ok(!madeProgress({ replicas: 1 }, { replicas: 1 }))
})
