import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { Pod, StatefulSet } from '@gyropilot/api'
import type { Effect, Outcome, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { NOW_MS, TEMPLATE, refused } from '../workload-support/fixtures.ts'
import {
  CLAIMS,
  CURRENT,
  DELETING,
  PARALLEL,
  UPDATE,
  claim,
  observed,
  ownedRevision,
  retention,
  rollingUpdate,
  setPod,
  setPods,
  statefulSet,
} from './fixtures.ts'
import type { World } from './fixtures.ts'
import { managePods } from './manage-pods.ts'

const newTemplate = { ...TEMPLATE, spec: { containers: [{ name: 'c', image: 'img:2' }] } }
const NOT_READY = { readySeconds: null }

interface Given extends Omit<World, 'pods'> {
  /** Both revisions are one unless told otherwise. */
  readonly updating?: boolean
  readonly onWrite?: (write: Write, index: number) => Outcome | undefined
}

function manage(set: StatefulSet, pods: readonly Pod[], given: Given = {}) {
  const current = ownedRevision(set, CURRENT, 1)
  const update = given.updating ? ownedRevision(set, UPDATE, 2, newTemplate) : current
  const caches = observed(set, { ...given, pods })
  const driven = drive(
    managePods(set, pods, { current, update, collisionCount: 0 }, caches, {
      nowMs: NOW_MS,
      maxUnavailable: false,
    }),
    given.onWrite ? { onWrite: given.onWrite } : {},
  )
  return { ...driven, did: driven.writes.map(what) }
}

const what = (write: Write): string =>
  `${write.verb} ${'object' in write ? write.object.metadata?.name : 'name' in write ? write.name : ''}`

const creations = (writes: readonly Write[]) =>
  writes.flatMap((write) =>
    write.verb === 'create'
      ? [
          `${(write.object as Pod).spec?.containers[0]?.image} ${write.object.metadata?.labels?.['controller-revision-hash']}`,
        ]
      : [],
  )

const ordered = (replicas: number) => statefulSet({ replicas })
const parallel = (replicas: number, spec = {}) =>
  statefulSet({ replicas, spec: { ...PARALLEL, ...spec } })

// One row each: the pods of an ordered set that wants three, and what is done about them.
const db = ordered(3)
const readyOnly = (ordinal: number): Pod => {
  const running = setPod(db, ordinal)
  return { ...running, status: { ...running.status, phase: 'Pending' } }
}
for (const [title, pods, did] of [
  ['nothing yet: the first is created', [], ['create db-0']],
  ['the first is pending: it is waited for', [setPod(db, 0, { phase: 'Pending' })], []],
  ['the first is not ready: it is waited for', [setPod(db, 0, NOT_READY)], []],
  ['the first is terminating: it is waited for', [setPod(db, 0, { deleting: true })], []],
  [
    'the phase of the first is unknown: it is waited for',
    [setPod(db, 0, { phase: 'Unknown' })],
    [],
  ],
  ['the first is ready and does not run: it is waited for', [readyOnly(0)], []],
  ['the first is ready: the next is created', [setPod(db, 0)], ['create db-1']],
  ['a gap is filled', [setPod(db, 0), setPod(db, 2)], ['create db-1']],
  ['a gap behind an unready pod is not', [setPod(db, 0, NOT_READY), setPod(db, 2)], []],
  ['all there', [...setPods(db, 3)], []],
  ['one too many: the highest goes', [...setPods(db, 5)], ['delete db-4']],
  [
    'one too many is on its way: it is waited for',
    [...setPods(db, 4), setPod(db, 4, { deleting: true })],
    [],
  ],
  [
    'too many, but the range is not whole: nobody goes',
    [setPod(db, 0), setPod(db, 1, NOT_READY), setPod(db, 5)],
    [],
  ],
  ['a failed pod is deleted', [setPod(db, 0), setPod(db, 1, { phase: 'Failed' })], ['delete db-1']],
  ['a succeeded pod is deleted', [setPod(db, 0, { phase: 'Succeeded' })], ['delete db-0']],
  [
    'a failed pod that goes already is waited for',
    [setPod(db, 0, { phase: 'Failed', deleting: true })],
    [],
  ],
] as const) {
  test(`ordered: ${title}`, () => {
    assert.deepEqual(manage(db, pods).did, did)
  })
}

const none = ordered(0)
for (const [title, pods, did] of [
  [
    'an unready pod above the first unavailable one stops it',
    [setPod(none, 0, NOT_READY), setPod(none, 1, NOT_READY)],
    [],
  ],
  ['the first unavailable pod itself may go', [setPod(none, 0, NOT_READY)], ['delete db-0']],
  [
    'healthy ones go above an unhealthy one',
    [setPod(none, 0, NOT_READY), setPod(none, 1)],
    ['delete db-1'],
  ],
] as const) {
  test(`ordered, down to none: ${title}`, () => assert.deepEqual(manage(none, pods).did, did))
}

test('OrderedReady: pod N+1 is created only when pod N is available, not merely ready', () => {
  const patient = statefulSet({ replicas: 2, spec: { minReadySeconds: 30 } })
  assert.deepEqual(manage(patient, [setPod(patient, 0, { readySeconds: 29 })]).did, [])
  assert.deepEqual(manage(patient, [setPod(patient, 0, { readySeconds: 30 })]).did, ['create db-1'])
})

test('ordered scale down waits for minReadySeconds, but not for the first unavailable pod', () => {
  const patient = statefulSet({ replicas: 1, spec: { minReadySeconds: 30 } })
  const fresh = { readySeconds: 5 }
  const pods = [setPod(patient, 0), setPod(patient, 1, fresh), setPod(patient, 2, fresh)]
  assert.deepEqual(manage(patient, pods).did, [])
  assert.deepEqual(manage(patient, pods.slice(0, 2)).did, ['delete db-1'])
})

const sent = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.effect === 'writes' ? [effect.writes.length] : []))

test('Given Parallel and 0→1000, then creates run in parallel batches', () => {
  const { effects, did } = manage(parallel(1000), [])
  assert.deepEqual(sent(effects), [1, 2, 4, 8, 16, 32, 64, 128, 256, 489])
  assert.equal(did.length, 1000)
  assert.deepEqual([did[0], did[999]], ['create db-0', 'create db-999'])
})

test('no more than 500 pods are worked on at the same time', () => {
  assert.deepEqual(sent(manage(parallel(1600), []).effects).slice(-4), [256, 500, 500, 89])
})

test('parallel: all that are too many go, highest first, those on their way are passed by', () => {
  const set = parallel(0)
  const pods = [
    setPod(set, 0, NOT_READY),
    setPod(set, 1, { deleting: true }),
    setPod(set, 2),
    setPod(set, 10),
  ]
  assert.deepEqual(manage(set, pods).did, ['delete db-10', 'delete db-2', 'delete db-0'])
})

test('In Parallel mode a stop result from one pod does not prevent scale down or update steps in the same sync', () => {
  const set = parallel(3)
  const pods = [
    setPod(set, 1, { phase: 'Failed' }),
    setPod(set, 2, { deleting: true }),
    setPod(set, 7),
  ]
  assert.deepEqual(manage(set, pods).did, ['create db-0', 'delete db-1', 'delete db-7'])
  const two = parallel(2)
  const old = [setPod(two, 0, { phase: 'Failed', revision: UPDATE }), setPod(two, 1)]
  assert.deepEqual(manage(two, old, { updating: true }).did, ['delete db-0', 'delete db-1'])
})

test('a failed pod of an older revision is deleted once', () => {
  const set = parallel(2)
  const pods = [setPod(set, 0), setPod(set, 1, { phase: 'Failed' })]
  assert.deepEqual(manage(set, pods, { updating: true }).did, ['delete db-1'])
})

test('Parallel mode does not speed up rolling updates', () => {
  const set = parallel(3)
  assert.deepEqual(manage(set, setPods(set, 3), { updating: true }).did, ['delete db-2'])
})

test('an error stops everything, after its batch', () => {
  const set = parallel(7)
  const failing = manage(set, [setPod(set, 9)], {
    onWrite: (_, index) => (index === 1 ? refused(403, 'Forbidden', 'quota') : undefined),
  })
  assert.equal(failing.did.length, 3)
  assert.match(String(failing.result.error), /quota/)
  assert.equal(failing.result.counts.replicas, 1)
  const one = manage(db, [], { onWrite: () => refused(403, 'Forbidden', 'quota') })
  assert.match(String(one.result.error), /quota/)
  const down = parallel(0)
  const kept = manage(down, setPods(down, 3), { onWrite: () => refused(500, 'Oops') })
  assert.equal(kept.did.length, 1)
  assert.ok(kept.result.error)
})

test('a set that is being deleted touches nothing and counts all it has', () => {
  const going = statefulSet({ replicas: 3, metadata: DELETING })
  const { did, result } = manage(going, [
    setPod(going, 0),
    setPod(going, 8),
    setPod(going, 1, { phase: 'Failed' }),
  ])
  assert.deepEqual(did, [])
  assert.deepEqual([result.counts.replicas, result.counts.readyReplicas], [3, 2])
})

test('first count: all claimed pods; later counts: those in range and condemned', () => {
  const odd = setPod(db, 1)
  const unplaced = { ...odd, metadata: { ...odd.metadata, name: 'db-99999999999' } }
  assert.equal(
    manage(db, [...setPods(db, 3), setPod(db, 5, { deleting: true }), unplaced]).result.counts
      .replicas,
    4,
  )
  const going = statefulSet({ replicas: 3, metadata: DELETING })
  assert.equal(manage(going, [unplaced]).result.counts.replicas, 1)
})

const created: Given['onWrite'] = (write) =>
  write.verb === 'create'
    ? { ok: true, object: { ...write.object, status: { phase: 'Pending' } } as Pod }
    : undefined

test('a pod that was just created is counted', () => {
  const { counts } = manage(db, [setPod(db, 0)], { onWrite: created }).result
  assert.deepEqual([counts.replicas, counts.readyReplicas, counts.currentReplicas], [2, 1, 2])
})

test('with rollingUpdate null as many pods as were current are made at the current revision', () => {
  const type = 'RollingUpdate'
  for (const updateStrategy of [{ type }, { type, rollingUpdate: null as never }] as const) {
    const set = statefulSet({
      replicas: 3,
      spec: { ...PARALLEL, updateStrategy },
      status: { currentReplicas: 2 },
    })
    const { writes } = manage(set, [], { updating: true })
    assert.deepEqual(creations(writes), [`img:1 ${CURRENT}`, `img:1 ${CURRENT}`, `img:2 ${UPDATE}`])
  }
})

test('A missing pod at or above the partition is created at the update revision, below it at the current one', () => {
  const set = parallel(3, rollingUpdate({ partition: 2 }))
  assert.deepEqual(creations(manage(set, [], { updating: true }).writes), [
    `img:1 ${CURRENT}`,
    `img:1 ${CURRENT}`,
    `img:2 ${UPDATE}`,
  ])
  const shifted = parallel(2, { ...rollingUpdate({ partition: 1 }), ordinals: { start: 4 } })
  assert.deepEqual(creations(manage(shifted, [], { updating: true }).writes), [
    `img:1 ${CURRENT}`,
    `img:2 ${UPDATE}`,
  ])
})

test('with OnDelete a missing pod is of the update revision, and nobody is replaced', () => {
  const spec = { ...PARALLEL, updateStrategy: { type: 'OnDelete' } } as const
  const set = statefulSet({ replicas: 2, spec, status: { currentReplicas: 2 } })
  const { writes, did } = manage(set, [setPod(set, 1)], { updating: true })
  assert.deepEqual(creations(writes), [`img:2 ${UPDATE}`])
  assert.deepEqual(did, ['create db-0'])
  const { counts } = manage(set, setPods(set, 2), { updating: true }).result
  assert.deepEqual([counts.replicas, counts.currentReplicas], [2, 2])
})

test('a pod that the rolling update may not delete is an error', () => {
  const { did, result } = manage(db, setPods(db, 3), {
    updating: true,
    onWrite: () => refused(403, 'Forbidden', 'not this one'),
  })
  assert.deepEqual(did, ['delete db-2'])
  assert.match(String(result.error), /not this one/)
  assert.equal(result.counts.currentReplicas, 3)
})

test('Scaling wins over updating: no template rollout while the replica range or condemned list is unfinished', () => {
  assert.deepEqual(manage(db, setPods(db, 2), { updating: true }).did, ['create db-2'])
  assert.deepEqual(manage(db, setPods(db, 4), { updating: true }).did, ['delete db-3'])
  assert.deepEqual(manage(db, setPods(db, 3), { updating: true }).did, ['delete db-2'])
})

test('a rolled pod is taken off the current replicas, which never fall below zero', () => {
  assert.equal(manage(db, setPods(db, 3), { updating: true }).result.counts.currentReplicas, 2)
  const foreign = setPods(db, 3, { revision: 'db-older' })
  assert.equal(manage(db, foreign, { updating: true }).result.counts.currentReplicas, 0)
})

test('a pod whose label is gone is mended, in order', () => {
  const unnamed = (ordinal: number): Pod =>
    setPod(db, ordinal, { labels: { 'statefulset.kubernetes.io/pod-name': 'other' } })
  assert.deepEqual(manage(db, [unnamed(0), setPod(db, 1), setPod(db, 2)]).did, ['update db-0'])
  assert.deepEqual(manage(db, [setPod(db, 0, NOT_READY), unnamed(1)]).did, [])
})

test('Given a pending pod whose PVC vanished, then the PVC is recreated', () => {
  const set = statefulSet({ replicas: 2, spec: CLAIMS })
  assert.deepEqual(manage(set, [setPod(set, 0, { phase: 'Pending' })]).did, ['create data-db-0'])
  assert.deepEqual(manage(set, [setPod(set, 0)]).did, ['create data-db-1', 'create db-1'])
  const refusing = manage(set, [setPod(set, 0, { phase: 'Pending' })], {
    claims: [claim(set, 0, DELETING)],
  })
  assert.match(String(refusing.result.error), /is being deleted/)
})

const scaling = statefulSet({ replicas: 3, spec: retention('Delete', 'Retain') })

test('Given whenScaled Delete and 3→2, then claim 2 gets a pod ref; while that ref is stale, scale up to 3 waits', () => {
  const two = statefulSet({ replicas: 2, spec: retention('Delete', 'Retain') })
  const claims = [0, 1, 2].map((ordinal) => claim(two, ordinal))
  const { writes, did } = manage(two, setPods(two, 3), { claims })
  assert.deepEqual(did, ['update data-db-2', 'delete db-2'])
  const [put] = writes
  const owner = newControllerRef(setPod(two, 2), resources.pods)
  assert.deepEqual(put?.verb === 'update' && put.object.metadata?.ownerReferences, [owner])

  const left = claim(scaling, 2, { ownerReferences: [owner] })
  const waiting = manage(scaling, setPods(scaling, 2), { claims: [...claims.slice(0, 2), left] })
  assert.deepEqual([waiting.did, waiting.result.error], [[], undefined])
  assert.equal(waiting.result.waitsForClaim, true)
  const gone = manage(scaling, setPods(scaling, 2), { claims: claims.slice(0, 2) })
  assert.deepEqual(gone.did, ['create data-db-2', 'create db-2'])
  assert.equal(gone.result.waitsForClaim, false)
})

test('with whenScaled Retain a claim of an earlier pod is no reason to wait', () => {
  const owner = { ...newControllerRef(setPod(db, 0), resources.pods), uid: 'before' }
  const set = statefulSet({ replicas: 1, spec: retention('Retain', 'Delete') })
  const { did } = manage(set, [], { claims: [claim(set, 0, { ownerReferences: [owner] })] })
  assert.deepEqual(did, ['create db-0'])
})

test('claims of a condemned pod that cannot be written keep it', () => {
  const two = statefulSet({ replicas: 2, spec: retention('Delete', 'Retain') })
  const claims = [0, 1, 2].map((ordinal) => claim(two, ordinal))
  const { did, result } = manage(two, setPods(two, 3), {
    claims,
    onWrite: () => refused(409, 'Conflict', 'changed'),
  })
  assert.deepEqual(did, ['update data-db-2'])
  assert.match(String(result.error), /changed/)
})

test('Changing S moves the range: pods below become condemned and go in descending order', () => {
  const moved = statefulSet({ replicas: 2, spec: { ordinals: { start: 3 } } })
  const pods = [0, 1, 3, 4].map((ordinal) => setPod(moved, ordinal))
  assert.deepEqual(manage(moved, pods).did, ['delete db-1'])
})

test('what a set does not say is one replica, no partition, no wait and no current replicas', () => {
  const { spec, status: _, ...rest } = statefulSet()
  const { selector, template, serviceName } = spec!
  const said = { selector, template, serviceName: serviceName ?? '' }
  const silent = (updateStrategy: object): StatefulSet => ({
    ...rest,
    spec: { ...said, updateStrategy },
  })
  const empty = silent({ type: 'RollingUpdate', rollingUpdate: {} })
  const fresh = setPod(empty, 0, { readySeconds: 0 })
  assert.deepEqual(manage(empty, [fresh]).did, [])
  assert.deepEqual(manage(empty, [fresh], { updating: true }).did, ['delete db-0'])
  for (const set of [empty, silent({ type: 'RollingUpdate' })])
    assert.deepEqual(creations(manage(set, [], { updating: true }).writes), [`img:2 ${UPDATE}`])
})
