import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused, pod, replicaSet, secondsAgo } from '../workload-support/fixtures.ts'
import { deployment, owned, sizes, sync } from './fixtures.ts'

const progressing = (reason: string, status: 'True' | 'False' | 'Unknown' = 'True') => ({
  type: 'Progressing',
  status,
  reason,
  message: 'm',
  lastUpdateTime: secondsAgo(1),
  lastTransitionTime: secondsAgo(1),
})
const complete = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
  terminatingReplicas: 0,
  conditions: [
    {
      type: 'Available',
      status: 'True',
      reason: 'MinimumReplicasAvailable',
      message: 'Deployment has minimum availability.',
      lastUpdateTime: secondsAgo(1),
      lastTransitionTime: secondsAgo(1),
    },
    progressing('NewReplicaSetAvailable'),
  ],
}
const annotations = { 'deployment.kubernetes.io/revision': '1' }

test('a complete rollout is left alone', () => {
  const web = deployment({ status: complete, metadata: { annotations } })
  assert.deepEqual(
    sync(web, [owned(web, { name: 'rs', replicas: 3, revision: '1', annotations: sizes(3, 4) })])
      .effects,
    [],
  )
})

test('selector exactly {}: event SelectingAll and observedGeneration, nothing else', () => {
  const all = deployment({ spec: { selector: {} } })
  const driven = sync(all, [replicaSet()])
  assert.deepEqual(driven.events, [
    {
      type: 'Warning',
      reason: 'SelectingAll',
      message: 'This deployment is selecting all pods. A non-empty selector is required.',
    },
  ])
  assert.deepEqual(
    driven.statusWrites.map(({ status }) => status),
    [{ observedGeneration: 1 }],
  )
  const failing = sync(all, [], { onWrite: () => refused(409, 'Conflict') })
  assert.deepEqual(failing.verdict, {})
  assert.deepEqual(
    sync(deployment({ spec: { selector: {} }, status: { observedGeneration: 1 } })).writes,
    [],
  )
})

test('an invalid selector is an error', () => {
  const driven = sync(
    deployment({ spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Nonsense' }] } } }),
  )
  assert.match(
    (driven.verdict.error as Error).message,
    /^deployment ns\/web has invalid label selector: /,
  )
})

test('another strategy is an error', () => {
  const odd = deployment({ strategy: { type: 'Odd' as 'Recreate' } })
  const driven = sync(odd, [owned(odd, { replicas: 3 })])
  assert.equal((driven.verdict.error as Error).message, 'unexpected deployment strategy type: Odd')
})

test('Given a deployment with deletionTimestamp, when synced, then only status is written', () => {
  const web = deployment({ metadata: { deletionTimestamp: secondsAgo(1) } })
  const driven = sync(web)
  assert.ok(
    driven.writes.every((write) => write.verb === 'update' && write.subresource === 'status'),
  )
  assert.equal(driven.statusWrites.length, 1)
  assert.deepEqual(driven.events, [])
})

test('deleted only live: no adoption', () => {
  const live = deployment({ metadata: { deletionTimestamp: secondsAgo(1) } })
  const driven = sync(deployment(), [replicaSet()], { onRead: () => ({ ok: true, object: live }) })
  assert.deepEqual(driven.writes, [])
  assert.match((driven.verdict.error as Error).message, /has just been deleted/)
})

test('Given RS labels changed, then it is released and a new RS appears; labels restored, then adopted again', () => {
  const web = deployment()
  const moved = owned(web, { name: 'rs', replicas: 3, labels: { app: 'other' } })
  const released = sync(web, [moved])
  assert.deepEqual(released.patched, ['rs'])
  assert.equal(released.created.length, 1)
  const restored = sync(web, [replicaSet({ name: 'rs' })])
  assert.deepEqual(restored.patched, ['rs'])
  assert.deepEqual(restored.created, [])
})

test('Given a paused new deployment, then no RS', () => {
  const driven = sync(deployment({ spec: { paused: true } }))
  assert.deepEqual(driven.created, [])
  assert.equal(driven.statusWrites[0]?.status?.conditions?.[0]?.reason, 'DeploymentPaused')
})

test('paused scale 1→10 resizes the RS', () => {
  const web = deployment({ replicas: 10, spec: { paused: true } })
  const driven = sync(web, [owned(web, { name: 'rs', replicas: 1, annotations: sizes(1, 2) })])
  assert.deepEqual(driven.scaled, { rs: 10 })
})

test('Of scaling syncs those of paused deployments clean up history, unless a rollback is pending', () => {
  const spec = { paused: true, revisionHistoryLimit: 0 }
  const web = deployment({ spec })
  const sets = [owned(web, { name: 'rs', replicas: 3 }), owned(web, { name: 'old', image: 'old' })]
  assert.deepEqual(sync(web, sets).deleted, ['old'])
  const pending = deployment({
    spec,
    metadata: { annotations: { 'deprecated.deployment.rollback.to': '1' } },
  })
  assert.deepEqual(sync(pending, sets).deleted, [])
  const resized = deployment({ replicas: 4, spec: { revisionHistoryLimit: 0 }, status: complete })
  const active = owned(resized, { name: 'rs', replicas: 3, annotations: sizes(3, 4) })
  const driven = sync(resized, [active, owned(resized, { name: 'old', image: 'old' })])
  assert.deepEqual([driven.scaled, driven.deleted], [{ rs: 4 }, []])
})

test('pause and resume are noted in Progressing, once', () => {
  const reasons = (paused: boolean, reason: string) =>
    sync(
      deployment({ spec: { paused }, status: { ...complete, conditions: [progressing(reason)] } }),
      [],
      { onWrite: () => refused(409, 'Conflict', 'stop') },
    ).statusWrites[0]?.status?.conditions?.find(({ type }) => type === 'Progressing')
  assert.deepEqual(
    [reasons(true, 'ReplicaSetUpdated')?.reason, reasons(true, 'ReplicaSetUpdated')?.status],
    ['DeploymentPaused', 'Unknown'],
  )
  assert.equal(reasons(true, 'ReplicaSetUpdated')?.message, 'Deployment is paused')
  assert.equal(reasons(false, 'DeploymentPaused')?.reason, 'DeploymentResumed')
  assert.equal(reasons(false, 'DeploymentPaused')?.message, 'Deployment is resumed')
  assert.notEqual(reasons(true, 'ProgressDeadlineExceeded')?.reason, 'DeploymentPaused')
})

test('without a progress deadline a pause is not noted', () => {
  const driven = sync(deployment({ spec: { paused: true, progressDeadlineSeconds: undefined } }))
  assert.ok(
    !driven.statusWrites.some(({ status }) =>
      status?.conditions?.some(({ type }) => type === 'Progressing'),
    ),
  )
})

test('a paused deployment whose status says all of it is left alone', () => {
  const status = {
    ...complete,
    conditions: [complete.conditions[0]!, progressing('DeploymentPaused', 'Unknown')],
  }
  const web = deployment({ spec: { paused: true }, metadata: { annotations }, status })
  const set = owned(web, { name: 'rs', replicas: 3, revision: '1', annotations: sizes(3, 4) })
  assert.deepEqual(sync(web, [set]).effects, [])
})

test('a scaling event is a scaling sync: all active RSs in proportion, no progress judged', () => {
  const web = deployment({ replicas: 10, status: { replicas: 5 } })
  const sets = [
    owned(web, {
      name: 'new',
      replicas: 2,
      revision: '2',
      ageSeconds: 5,
      annotations: sizes(5, 5),
    }),
    owned(web, { name: 'old', image: 'old', replicas: 3, revision: '1', annotations: sizes(5, 5) }),
  ]
  const driven = sync(web, sets)
  assert.deepEqual(driven.scaled, { new: 5, old: 8 })
})

test('One write step per sync in RollingUpdate: scale up, or scale down, not both.', () => {
  const web = deployment({
    replicas: 10,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 2 } },
  })
  const old = owned(web, {
    name: 'old',
    image: 'old',
    replicas: 10,
    revision: '1',
    annotations: sizes(10, 12),
  })
  const fresh = owned(web, {
    name: 'new',
    replicas: 0,
    revision: '2',
    ageSeconds: 5,
    annotations: sizes(10, 12),
  })
  assert.deepEqual(sync(web, [old, fresh]).scaled, { new: 2 })
  const grown = owned(web, {
    name: 'new',
    replicas: 2,
    revision: '2',
    ageSeconds: 5,
    annotations: sizes(10, 12),
  })
  assert.deepEqual(sync(web, [old, grown]).scaled, { old: 6 })
})

test('History cleanup uses the status from the cache at sync start, so it runs one sync after completion.', () => {
  const spec = { revisionHistoryLimit: 0 }
  const before = deployment({
    spec,
    metadata: { annotations },
    status: { ...complete, availableReplicas: 2 },
  })
  const sets = [
    owned(before, { name: 'rs', replicas: 3, revision: '1', annotations: sizes(3, 4) }),
    owned(before, { name: 'old', image: 'old', revision: '0' }),
  ]
  const completing = sync(before, sets)
  assert.deepEqual(completing.deleted, [])
  assert.equal(completing.statusWrites.length, 1)
  const after = deployment({ spec, metadata: { annotations }, status: complete })
  assert.deepEqual(sync(after, sets).deleted, ['old'])
})

const recreating = deployment({
  strategy: { type: 'Recreate' },
  status: { conditions: [progressing('ReplicaSetUpdated')] },
})

test('Recreate scales all old RSs to 0 first and creates nothing in that sync', () => {
  const driven = sync(recreating, [
    owned(recreating, { name: 'old', image: 'old', replicas: 3, revision: '1' }),
  ])
  assert.deepEqual([driven.scaled, driven.created], [{ old: 0 }, []])
})

test('Recreate waits a sync for old ones that were scaled, though none of their pods is to be seen', () => {
  const old = owned(recreating, {
    name: 'old',
    image: 'old',
    replicas: 3,
    status: { replicas: 0, observedGeneration: 1 },
  })
  const driven = sync(recreating, [old])
  assert.deepEqual([driven.scaled, driven.created], [{ old: 0 }, []])
})

test('one old pod that runs among finished ones keeps Recreate waiting', () => {
  const old = owned(recreating, { name: 'old', image: 'old', revision: '1' })
  const pods = { old: [pod({ owner: old, phase: 'Failed' }), pod({ owner: old })] }
  assert.deepEqual(sync(recreating, [old], { pods }).created, [])
})

test('Recreate keeps its history until it is complete', () => {
  const spec = { revisionHistoryLimit: 0 }
  const web = deployment({ strategy: { type: 'Recreate' }, spec })
  const sets = [
    owned(web, { name: 'new', replicas: 3, revision: '2' }),
    owned(web, { name: 'old', image: 'old', revision: '1' }),
  ]
  assert.deepEqual(sync(web, sets).deleted, [])
})

test('Given Recreate and terminating old pods, then no new RS until they are gone', () => {
  const old = owned(recreating, { name: 'old', image: 'old', revision: '1' })
  const waiting = sync(recreating, [old], { pods: { old: [pod({ owner: old, deleting: true })] } })
  assert.deepEqual(waiting.created, [])
  const counted = owned(recreating, {
    name: 'old',
    image: 'old',
    status: { replicas: 1, observedGeneration: 1 },
  })
  assert.deepEqual(sync(recreating, [counted]).created, [])
  const gone = sync(recreating, [old], { pods: { old: [pod({ owner: old, phase: 'Succeeded' })] } })
  assert.equal(gone.created.length, 1)
  assert.equal(gone.created[0]?.spec?.replicas, 3)
})

test('Recreate scales an existing new RS to R; its own pods do not count as old', () => {
  const fresh = owned(recreating, { name: 'new', replicas: 1, revision: '1' })
  const driven = sync(recreating, [fresh], { pods: { new: [pod({ owner: fresh })] } })
  assert.deepEqual(driven.scaled, { new: 3 })
})

test('RollingUpdate does not wait for terminating pods', () => {
  const web = deployment({ replicas: 3 })
  const old = owned(web, { name: 'old', image: 'old', revision: '1' })
  assert.equal(
    sync(web, [old], { pods: { old: [pod({ owner: old, deleting: true })] } }).created[0]?.spec
      ?.replicas,
    3,
  )
})

test('Given a quick second and third template, then the final one wins and middle RSs go to 0', () => {
  const web = deployment({
    replicas: 3,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  })
  const first = owned(web, {
    name: 'first',
    image: 'img:a',
    replicas: 3,
    revision: '1',
    ageSeconds: 300,
    annotations: sizes(3, 4),
  })
  const middle = owned(web, {
    name: 'middle',
    image: 'img:b',
    replicas: 1,
    available: 0,
    revision: '2',
    ageSeconds: 200,
    annotations: sizes(3, 4),
  })
  const final = owned(web, {
    name: 'final',
    replicas: 0,
    revision: '3',
    ageSeconds: 100,
    annotations: sizes(3, 4),
  })
  assert.deepEqual(sync(web, [first, middle, final]).scaled, { middle: 0 })
})

test('a 409 of a status write is returned and retried', () => {
  const driven = sync(deployment(), [], {
    onWrite: (write) => (write.verb === 'update' ? refused(409, 'Conflict', 'stale') : undefined),
  })
  assert.equal((driven.verdict.error as Error).message, 'stale')
})
