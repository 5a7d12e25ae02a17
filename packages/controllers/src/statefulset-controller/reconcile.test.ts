import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ControllerRevision, Pod, StatefulSet } from '@gyropilot/api'
import type { Outcome, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { controllerRevision } from '../revision-support/fixtures.ts'
import { TEMPLATE, pod, refused } from '../workload-support/fixtures.ts'
import {
  CURRENT,
  DELETING,
  PARALLEL,
  SETTINGS,
  claim,
  observed,
  ownedRevision,
  retention,
  setPod,
  setPods,
  statefulSet,
} from './fixtures.ts'
import type { World } from './fixtures.ts'
import type { ObservedStatefulSet } from './observe.ts'
import { reconcile } from './reconcile.ts'
import { statusOf } from './status.ts'

interface Given extends World {
  readonly caches?: Partial<ObservedStatefulSet>
  readonly live?: StatefulSet | Outcome
  readonly onWrite?: (write: Write, index: number) => Outcome | undefined
}

function synced(set: StatefulSet, given: Given = {}) {
  const world = { revisions: [ownedRevision(set, CURRENT, 1)], ...given }
  const live = given.live ?? set
  const driven = drive(reconcile({ ...observed(set, world), ...given.caches }, SETTINGS), {
    onRead: () => ('ok' in live ? live : { ok: true, object: live }),
    ...(given.onWrite ? { onWrite: given.onWrite } : {}),
  })
  const statuses = driven.writes.flatMap((write) =>
    write.verb === 'update' && write.subresource === 'status'
      ? [(write.object as StatefulSet).status]
      : [],
  )
  return { ...driven, statuses, did: driven.writes.map(what) }
}

function what(write: Write): string {
  const name = 'object' in write ? write.object.metadata?.name : 'name' in write ? write.name : ''
  return `${write.verb} ${write.type.resource}${'subresource' in write && write.subresource ? '/status' : ''} ${name}`
}

/** With the status that its pods have, so that nothing is to be written. */
function settled(set: StatefulSet, pods: readonly Pod[]): StatefulSet {
  const ready = pods.length
  const counts = {
    replicas: ready,
    readyReplicas: ready,
    availableReplicas: ready,
    currentReplicas: ready,
    updatedReplicas: ready,
  }
  return {
    ...set,
    status: statusOf(set, counts, { current: CURRENT, update: CURRENT, collisionCount: 0 }),
  }
}

test('a set that has all it wants is left alone', () => {
  const set = statefulSet()
  const pods = setPods(set, 2)
  assert.equal(synced(settled(set, pods), { pods }).effects.length, 0)
})

test('Invalid selector: log, done, no retry', () => {
  const selector = { matchExpressions: [{ key: 'a', operator: 'Odd' }] } as never
  const seen: unknown[] = []
  const set = statefulSet({ spec: { selector } })
  const { result, effects } = drive(
    reconcile(observed(set), { ...SETTINGS, onInvalidSelector: (_, error) => seen.push(error) }),
  )
  assert.deepEqual([result, effects.length, seen.length], [undefined, 0, 1])
})

test('a new set: its revision, its first pod, its status', () => {
  const set = statefulSet()
  const { did, statuses } = synced(set, { revisions: [] })
  assert.deepEqual(
    did.map((text) => text.replace(/db-[^0].*/, 'db-hash')),
    ['create controllerrevisions db-hash', 'create pods db-0', 'update statefulsets/status db'],
  )
  assert.equal(statuses[0]?.currentRevision, statuses[0]?.updateRevision)
  assert.equal(statuses[0]?.observedGeneration, 1)
})

const orphaned = controllerRevision({ name: CURRENT })

test('orphaned revisions that match are adopted before anything else', () => {
  const set = statefulSet()
  const { did, effects } = synced(set, { revisions: [orphaned] })
  assert.deepEqual(did.slice(0, 2), [`patch controllerrevisions ${CURRENT}`, 'create pods db-0'])
  assert.equal(effects[0]?.effect, 'read')
})

test('a revision that does not match is nobody’s; an orphan that cannot be adopted ends the sync', () => {
  const set = statefulSet()
  const foreign = controllerRevision({ name: 'foreign', labels: { app: 'b' }, revision: 7 })
  const { did } = synced(set, { revisions: [foreign, ownedRevision(set, CURRENT, 1)] })
  assert.deepEqual(did, ['create pods db-0', 'update statefulsets/status db'])
  const gone = synced(set, { revisions: [orphaned], live: refused(404, 'NotFound') })
  assert.deepEqual(gone.did, [])
  assert.ok(gone.result?.error)
})

const labels = { app: 'a' }

test('Given an orphan `foo-1` and an owned pod with a wrong name, then the first is adopted and the second released', () => {
  const set = statefulSet({ name: 'foo', replicas: 2, spec: PARALLEL })
  const wrong = {
    ...setPod(set, 0),
    metadata: { ...setPod(set, 0).metadata, name: 'bar-0', uid: 'bar-uid' },
  }
  const pods = [
    pod({ name: 'foo-1', labels }),
    wrong,
    pod({ name: 'bar-1', labels }),
    pod({ name: 'foo-9', labels: { app: 'b' } }),
  ]
  const { writes } = synced(set, {
    pods,
    onWrite: (write) =>
      write.verb === 'patch' && write.name === 'foo-1'
        ? {
            ok: true,
            object: { ...pods[0]!, metadata: { ...pods[0]!.metadata, resourceVersion: '99' } },
          }
        : undefined,
  })
  const patches = writes.flatMap((write) =>
    write.verb === 'patch'
      ? [[write.name, JSON.stringify(write.patch).includes('"$patch":"delete"')]]
      : [],
  )
  assert.deepEqual(patches, [
    ['foo-1', false],
    ['bar-0', true],
  ])
  // The adopted pod gets its labels at once, on the version that the adoption made.
  const puts = writes.filter((write) => write.verb === 'update' && write.type === resources.pods)
  assert.deepEqual(
    puts.map((write) => 'object' in write && write.object.metadata?.resourceVersion),
    ['99'],
  )
})

test('Retention Delete with an orphaned pod: claims get refs only after the pod is adopted', () => {
  const set = statefulSet({ replicas: 1, spec: retention('Delete', 'Delete') })
  const orphan: Pod = {
    ...setPod(set, 0),
    metadata: { ...setPod(set, 0).metadata, ownerReferences: [] },
  }
  const { did } = synced(set, {
    pods: [orphan],
    claims: [claim(set, 0)],
    onWrite: (write) => (write.verb === 'patch' ? { ok: true, object: orphan } : undefined),
  })
  assert.deepEqual(did.slice(0, 2), ['patch pods db-0', 'update persistentvolumeclaims data-db-0'])
  const refusal = synced(set, {
    pods: [orphan],
    claims: [claim(set, 0)],
    live: refused(500, 'Oops'),
  })
  assert.deepEqual(refusal.did, [])
  assert.ok(refusal.result?.error)
})

test('Given the set deleted only live, then no adoption', () => {
  const set = statefulSet()
  const deleted = { ...set, metadata: { ...set.metadata, ...DELETING } }
  const pods = [pod({ name: 'db-0', labels })]
  for (const given of [{ pods }, { revisions: [orphaned] }]) {
    const { did, result } = synced(set, { ...given, live: deleted })
    assert.deepEqual(did, [])
    assert.match(String(result?.error), /has just been deleted/)
  }
})

test("The set's own deletion does not delete pods here", () => {
  const set = statefulSet({ replicas: 0, metadata: DELETING })
  const { did } = synced(set, { pods: [...setPods(set, 2), pod({ name: 'db-5', labels })] })
  assert.deepEqual(did, ['update statefulsets/status db'])
})

test('the status is written also when a pod was refused, and the error comes back', () => {
  const { did, result } = synced(statefulSet(), {
    onWrite: (write) =>
      write.type === resources.pods ? refused(403, 'Forbidden', 'quota') : undefined,
  })
  assert.deepEqual(did, ['create pods db-0', 'update statefulsets/status db'])
  assert.match(String(result?.error), /quota/)
})

const conflict = (write: Write) =>
  write.type === resources.statefulsets ? refused(409, 'Conflict', 'changed') : undefined

test('a status that meets a conflict goes on with what the cache has by then, five times in all', () => {
  const set = statefulSet()
  let version = 100
  const next = (metadata = {}): StatefulSet => ({
    ...set,
    metadata: { ...set.metadata, resourceVersion: String((version += 1)), ...metadata },
  })
  const tried = synced(set, {
    pods: setPods(set, 2),
    caches: { current: () => next() },
    onWrite: conflict,
  })
  assert.equal(tried.statuses.length, 5)
  assert.match(String(tried.result?.error), /changed/)
  assert.ok(tried.statuses.every((status) => status === tried.statuses[0]))
  assert.deepEqual(
    tried.writes.map((write) => 'object' in write && write.object.metadata?.resourceVersion),
    ['10', '101', '102', '103', '104'],
  )
  for (const current of [() => set, () => undefined, () => next({ uid: 'other' })]) {
    assert.equal(
      synced(set, { pods: setPods(set, 2), caches: { current }, onWrite: conflict }).statuses
        .length,
      1,
    )
  }
  const once = synced(set, {
    pods: setPods(set, 2),
    caches: { current: () => next() },
    onWrite: (write, index) => (index === 0 ? conflict(write) : undefined),
  })
  assert.deepEqual([once.statuses.length, once.result], [2, undefined])
})

test('a status that is refused otherwise is not tried again', () => {
  const set = statefulSet()
  const { statuses, result } = synced(set, {
    caches: { current: () => ({ ...set, metadata: { ...set.metadata, resourceVersion: '99' } }) },
    onWrite: (write) =>
      write.type === resources.statefulsets ? refused(422, 'Invalid') : undefined,
  })
  assert.equal(statuses.length, 1)
  assert.ok(result?.error)
})

const newTemplate = { ...TEMPLATE, spec: { containers: [{ name: 'c', image: 'img:2' }] } }

function revisions(set: StatefulSet, count: number): readonly ControllerRevision[] {
  return Array.from({ length: count }, (_, index) =>
    ownedRevision(set, `old-${index}`, index + 1, {
      ...TEMPLATE,
      metadata: { labels: { app: 'a', old: `${index}` } },
    }),
  )
}

test('a roll-back whose revision somebody wrote meanwhile goes on with what the cache has by then', () => {
  const set = statefulSet({ replicas: 0 })
  const other = { ...TEMPLATE, spec: { containers: [{ name: 'c', image: 'img:9' }] } }
  const old = ownedRevision(set, 'old', 1)
  const fresh = { ...old, metadata: { ...old.metadata, resourceVersion: '99' } }
  const { did, writes } = synced(set, {
    revisions: [old, ownedRevision(set, 'new', 2, other)],
    caches: { revision: (name) => (name === 'old' ? fresh : undefined) },
    onWrite: (_, index) => (index === 0 ? refused(409, 'Conflict', 'changed') : undefined),
  })
  assert.deepEqual(did.slice(0, 2), Array<string>(2).fill('update controllerrevisions old'))
  const [, second] = writes
  assert.ok(second?.verb === 'update' && second.object.metadata?.resourceVersion === '99')
})

test('history is cut at the end, also after errors', () => {
  const set = statefulSet({ spec: { revisionHistoryLimit: 1 } })
  const world = { revisions: [...revisions(set, 3), ownedRevision(set, CURRENT, 9)] }
  assert.deepEqual(synced(set, world).did.slice(-2), [
    'delete controllerrevisions old-0',
    'delete controllerrevisions old-1',
  ])
  const failing = synced(set, { ...world, onWrite: () => refused(500, 'Oops', 'oops') })
  assert.equal(failing.did.filter((text) => text.startsWith('delete')).length, 2)
  assert.equal(String(failing.result?.error), 'AggregateError: oops')
})

test('history: what the set is at and what it goes to stay though no pod is of them', () => {
  const set = statefulSet({
    replicas: 0,
    spec: { revisionHistoryLimit: 0, updateStrategy: { type: 'OnDelete' } },
    status: { currentRevision: 'old-0' },
  })
  const world = { revisions: [...revisions(set, 2), ownedRevision(set, CURRENT, 9)] }
  const { did, statuses } = synced(set, world)
  assert.deepEqual(did, ['update statefulsets/status db', 'delete controllerrevisions old-1'])
  assert.deepEqual(
    [statuses[0]?.currentRevision, statuses[0]?.updateRevision, statuses[0]?.collisionCount],
    ['old-0', CURRENT, 0],
  )
})

test('a collision of the name of a revision is in the status', () => {
  const set = statefulSet({ replicas: 0, status: { collisionCount: 2 } })
  const { statuses } = synced(set, {
    revisions: [],
    onWrite: (write, index) =>
      write.verb === 'create' && index === 0 ? refused(409, 'AlreadyExists') : undefined,
    live: ownedRevision(set, 'other', 1, newTemplate) as never,
  })
  assert.equal(statuses[0]?.collisionCount, 3)
})

test('a revision that cannot be stored ends the sync; what the status names stays in the history', () => {
  const set = statefulSet({
    spec: { revisionHistoryLimit: 0 },
    status: { currentRevision: 'old-0', updateRevision: 'old-1' },
  })
  const { did, result } = synced(set, {
    revisions: revisions(set, 3),
    onWrite: (write) => (write.verb === 'create' ? refused(403, 'Forbidden', 'no') : undefined),
  })
  assert.deepEqual(did.slice(1), ['delete controllerrevisions old-2'])
  assert.match(String(result?.error), /no/)
})

test('Given 4 ready pods with staggered ready times and minReadySeconds, then the requeue targets the earliest', () => {
  const set = statefulSet({ replicas: 4, spec: { ...PARALLEL, minReadySeconds: 100 } })
  const pods = [70, 90, 40, 100].map((readySeconds, ordinal) =>
    setPod(set, ordinal, { readySeconds }),
  )
  assert.deepEqual(synced(set, { pods }).result, { requeueAfterMs: 10_000 })
})

test('without a candidate the requeue is after minReadySeconds, and none is needed when all are available', () => {
  const set = statefulSet({ replicas: 1, spec: { minReadySeconds: 100 } })
  const ready = setPod(set, 0)
  const conditions = [{ type: 'Ready', status: 'True' }]
  const timeless = { ...ready, status: { ...ready.status, conditions } } as Pod
  assert.deepEqual(synced(set, { pods: [timeless] }).result, { requeueAfterMs: 100_000 })
  assert.equal(synced(set, { pods: [setPod(set, 0, { readySeconds: 100 })] }).result, undefined)
  assert.equal(synced(statefulSet({ replicas: 1 }), { pods: [ready] }).result, undefined)
})

test('a set that waits for a claim of an earlier pod looks again after a second', () => {
  const set = statefulSet({
    replicas: 2,
    spec: { ...retention('Delete', 'Retain'), minReadySeconds: 3 },
  })
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'db-1', uid: 'before', controller: true }
  const claims = [claim(set, 0), claim(set, 1, { ownerReferences: [owner] })]
  const pods = [setPod(set, 0)]
  assert.deepEqual(synced(set, { pods, claims }).result, { requeueAfterMs: 1_000 })
})

test('a set that found a revision of an earlier set of its name looks again after a second: that one will be collected', () => {
  const set = statefulSet()
  const earlier = ownedRevision(statefulSet({ uid: 'before' }), CURRENT, 1)
  const found = (live: ControllerRevision) =>
    synced(set, {
      revisions: [],
      pods: setPods(set, 2),
      live: { ok: true, object: live, attempted: true } as Outcome,
      onWrite: ({ type }) =>
        type === resources.controllerrevisions ? refused(409, 'AlreadyExists') : undefined,
    }).result
  assert.deepEqual(found(earlier), { requeueAfterMs: 1_000 })
  assert.equal(found(ownedRevision(set, CURRENT, 1)), undefined)
})
