import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { drive, fakeInformers, testClock } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import {
  persistentVolumeClaimProtectionLogic,
  persistentVolumeClaimProtectionController,
} from './index.ts'

const OURS = 'kubernetes.io/pvc-protection'
const DELETION = { deletionTimestamp: '2026-01-01T00:00:00Z' }

interface ClaimOptions {
  readonly name?: string
  readonly finalizers?: readonly string[]
  readonly deleting?: boolean
  readonly ownerUid?: string
  readonly status?: PersistentVolumeClaim['status']
}

function claim(given: ClaimOptions = {}): PersistentVolumeClaim {
  const { name = 'data', finalizers, deleting, ownerUid, status } = given
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: ownerUid ?? '', controller: true }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      namespace: 'ns',
      name,
      resourceVersion: '3',
      ...(finalizers && { finalizers }),
      ...(deleting && DELETION),
      ...(ownerUid && { ownerReferences: [owner] }),
    },
    ...(status && { status }),
  }
}

const deleted = (name = 'data', more: ClaimOptions = {}): PersistentVolumeClaim =>
  claim({ name, deleting: true, finalizers: [OURS], ...more })

interface PodOptions {
  readonly name?: string
  readonly claims?: readonly string[]
  readonly ephemeral?: readonly string[]
  readonly node?: string
  readonly phase?: NonNullable<Pod['status']>['phase']
  readonly deletion?: object
  readonly running?: boolean
  readonly uid?: string
}

function pod(given: PodOptions = {}): Pod {
  const { name = 'p', claims = ['data'], ephemeral = [], node = 'n', phase = 'Running' } = given
  const state = given.running === false ? { terminated: { exitCode: 0 } } : { running: {} }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name, uid: given.uid ?? 'pod-uid', ...given.deletion },
    spec: {
      containers: [],
      ...(node && { nodeName: node }),
      volumes: [
        { name: 'plain', emptyDir: {} },
        ...claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
        ...ephemeral.map((volume) => ({ name: volume, ephemeral: {} })),
      ],
    },
    status: { phase, containerStatuses: [{ name: 'c', state } as never] },
  }
}

const GATE = { featureGates: { PersistentVolumeClaimUnusedSinceTime: true } }

function logicOf(objects: readonly KubernetesObject[], gate = {}) {
  const configuration = { ...defaultControllersConfiguration, ...gate }
  const clock = testClock()
  /** After how long the namespace is looked at again, as asked for last. */
  const woken: { afterMs?: number } = {}
  const logic = persistentVolumeClaimProtectionLogic(
    { informers: fakeInformers(objects), configuration, clock },
    (_, afterMs) => void (woken.afterMs = afterMs),
  )
  const [claims, pods] = logic.watches
  return {
    logic,
    clock,
    woken,
    claims: claims as Watch<PersistentVolumeClaim>,
    pods: pods as Watch<Pod>,
  }
}

interface Sync extends DriveOptions {
  /** What the live list has; default: what is cached. */
  readonly live?: readonly Pod[]
  readonly gate?: object
}

/** Queues every cached claim and judges what waits in `ns`. */
function sync(cached: readonly KubernetesObject[], given: Sync = {}) {
  const { logic, clock, woken, claims } = logicOf(cached, given.gate)
  for (const object of cached)
    if (object.kind === 'PersistentVolumeClaim') claims.onAdd!(object as PersistentVolumeClaim)
  let lists = 0
  const items = given.live ?? cached.filter(({ kind }) => kind === 'Pod')
  const batch = () => {
    delete woken.afterMs
    const driven = drive(logic.reconcile(logic.observe('ns')!), {
      onRead(read) {
        lists += 1
        assert.deepEqual(
          [read.verb, read.verb === 'list' && [read.type.resource, read.namespace]],
          ['list', ['pods', 'ns']],
        )
        return { ok: true, object: { items } as KubernetesObject }
      },
      ...given,
    })
    return { ...driven, againInMs: woken.afterMs }
  }
  const driven = batch()
  const updates = driven.writes.map((write) => {
    assert.ok(write.verb === 'update')
    return [write.object.metadata?.name, write.object.metadata?.finalizers, write.subresource]
  })
  /** So many milliseconds later. */
  const again = async (afterMs: number): Promise<ReturnType<typeof batch>> => {
    await clock.advance(afterMs)
    return batch()
  }
  return { ...driven, updates, lists, again }
}

const released = (name = 'data', rest: readonly string[] = []) => [name, rest, undefined]

test('Given a PVC without or with the finalizer, then it is added or nothing happens.', () => {
  assert.deepEqual(sync([claim()]).updates, [['data', [OURS], undefined]])
  assert.deepEqual(sync([claim({ finalizers: ['a/x'] })]).updates, [
    ['data', ['a/x', OURS], undefined],
  ])
  assert.deepEqual(sync([claim({ finalizers: [OURS] })]).effects, [])
  assert.deepEqual(sync([claim({ deleting: true, finalizers: ['a/x'] })]).effects, [])
})

test('Given failing saves, then retries.', async () => {
  for (const object of [claim(), deleted()]) {
    const conflict = refused(409, 'Conflict')
    assert.ok(!conflict.ok)
    const driven = sync([object], { onWrite: () => conflict })
    assert.deepEqual(driven.result, { error: conflict.error })
    assert.equal(driven.againInMs, 5)
    assert.equal((await driven.again(4)).writes.length, 0)
    const second = await driven.again(1)
    assert.equal(second.writes.length, 1)
    assert.equal(second.againInMs, 10)
  }
})

test('Given deleted PVCs without pods, in one or several namespaces, then removal; one LIST per namespace.', () => {
  const driven = sync([deleted('b'), deleted('a', { finalizers: ['a/x', OURS] }), claim()])
  assert.deepEqual(driven.updates, [
    released('a', ['a/x']),
    released('b'),
    ['data', [OURS], undefined],
  ])
  assert.equal(driven.lists, 1)
  const { logic, claims } = logicOf([])
  const elsewhere = { ...deleted(), metadata: { ...deleted().metadata, namespace: 'other' } }
  assert.deepEqual([...claims.onAdd!(deleted()), ...claims.onAdd!(elsewhere)], ['ns', 'other'])
  assert.deepEqual([logic.observe('ns')?.claims, logic.observe('other')?.claims], [[], []])
})

test('Given the LIST fails once, then that PVC is requeued and the others go on.', async () => {
  const failed = refused(500, 'InternalError')
  let lists = 0
  const items: Pod[] = []
  const driven = sync([deleted('a'), deleted('b'), deleted('c')], {
    onRead: () => (++lists === 1 ? failed : { ok: true, object: { items } as KubernetesObject }),
  })
  assert.deepEqual(driven.updates, [released('b'), released('c')])
  assert.equal(lists, 2)
  assert.ok(driven.result?.error)
  assert.deepEqual(
    (await driven.again(5)).writes.map((write) => 'object' in write && write.object.metadata?.name),
    ['a'],
  )
})

const uses: readonly (readonly [string, Pod, boolean])[] = [
  ['a pod with the PVC', pod(), true],
  ['an unrelated pod', pod({ claims: ['other'] }), false],
  ['a finished pod', pod({ phase: 'Succeeded' }), true],
  ['an unscheduled pod', pod({ node: '' }), false],
  [
    'a pod that is shut down',
    pod({ deletion: { ...DELETION, deletionGracePeriodSeconds: 0 } }),
    true,
  ],
]
test('Given a pod with the PVC, an unrelated pod, a finished pod, a pod unknown to the cache, then kept, removed, kept, kept.', () => {
  for (const [what, user, isKept] of uses) {
    const cached = sync([deleted(), user])
    assert.deepEqual(cached.updates, isKept ? [] : [released()], what)
    assert.equal(cached.lists, isKept ? 0 : 1, `${what}: no list where the cache knows`)
    const unknown = sync([deleted()], { live: [user] })
    assert.deepEqual(unknown.updates, isKept ? [] : [released()], `${what}, unknown to the cache`)
  }
})

test('a user that the server names and the cache has not is asked about again: its answer may be an old one', async () => {
  const driven = sync([deleted('a'), deleted('b')], { live: [pod({ claims: ['b'] })] })
  assert.deepEqual([driven.updates, driven.againInMs], [[released('a')], 1_000])
  const readAgain = { ok: true, object: { items: [] as Pod[] } as KubernetesObject } as const
  const again = sync([deleted('b')], { onRead: () => readAgain })
  assert.deepEqual([again.updates, again.againInMs], [[released('b')], undefined])
  assert.equal((await driven.again(1_000)).againInMs, 1_000)
})

test('a claim that always fails holds up no neighbour: each has a back-off of its own', async () => {
  const denied = refused(403, 'Forbidden')
  const driven = sync([claim({ name: 'denied' }), deleted('lagging')], {
    live: [pod({ claims: ['lagging'] })],
    onWrite: (write) => ('object' in write && write.verb === 'update' ? denied : undefined),
  })
  assert.ok(driven.result?.error)
  assert.equal(driven.againInMs, 5)
  let waited = 0
  for (let afterMs = 5; waited + afterMs < 1_000; afterMs *= 2) {
    const { againInMs } = await driven.again(afterMs)
    waited += afterMs
    const restMs = 1_000 - waited
    assert.equal(againInMs, Math.min(afterMs * 2, restMs))
  }
  const { result, effects } = await driven.again(1_000 - waited)
  assert.ok(
    effects.some(({ effect }) => effect === 'read'),
    'the other is looked at in its time',
  )
  assert.equal(result?.error, undefined)
})

test('rules that throw end for one claim alone, which is looked at again', async () => {
  let throws = 1
  const unreadable = {
    get spec() {
      if (throws-- > 0) throw new Error('a defect')
      return { containers: [] }
    },
  }
  const driven = sync([deleted('a'), deleted('b')], { live: [unreadable as Pod] })
  assert.match(String(driven.result?.error), /a defect/)
  assert.deepEqual(driven.updates, [released('b')])
  assert.equal((await driven.again(5)).writes.length, 1)
})

const OWNED = deleted('p-scratch', { ownerUid: 'pod-uid' })
const shutDown = { ...DELETION, deletionGracePeriodSeconds: 0 }
const ephemeral: readonly (readonly [string, PersistentVolumeClaim, PodOptions, boolean])[] = [
  ['its own', OWNED, {}, true],
  ['of an earlier pod', deleted('p-scratch', { ownerUid: 'other' }), {}, false],
  ['of nobody', deleted('p-scratch'), {}, false],
  ['of another name', deleted('q-scratch', { ownerUid: 'pod-uid' }), {}, false],
  ['of a pod that is going', OWNED, { deletion: DELETION }, true],
  ['of a pod that is shut down', OWNED, { deletion: shutDown }, false],
  [
    'of a pod that says so without being deleted',
    OWNED,
    { deletion: { deletionGracePeriodSeconds: 0 } },
    true,
  ],
  ['of a pod without a node', OWNED, { node: '' }, false],
]
test('a claim behind an ephemeral volume is used by the pod that owns it, until that is shut down', () => {
  for (const [what, object, given, isKept] of ephemeral) {
    const user = pod({ claims: [], ephemeral: ['scratch'], ...given })
    assert.equal(sync([object, user]).updates.length, isKept ? 0 : 1, what)
  }
})

test('a claim that is named directly by a pod is used, whoever owns it, until the pod is gone', () => {
  const named = pod({ claims: ['p-scratch'], deletion: shutDown })
  assert.deepEqual(sync([OWNED, named]).updates, [])
})

const running = pod()
const finished = pod({ phase: 'Succeeded' })
const unscheduled = pod({ node: '' })
test('Given pod updates: running, finished, unscheduled, deleted, then no action, kept, removed, removed.', () => {
  const { logic, pods } = logicOf([deleted()])
  const waiting = () => logic.observe('ns')?.claims.length
  assert.deepEqual([...pods.onAdd!(running), ...pods.onUpdate!(running, running)], [])
  assert.equal(waiting(), 0)
  for (const object of [finished, unscheduled, pod({ phase: 'Failed' })]) {
    assert.deepEqual([...pods.onAdd!(object)], ['ns'])
    assert.equal(waiting(), 1)
    assert.deepEqual([...pods.onUpdate!(running, object)], ['ns'])
    assert.equal(waiting(), 1)
  }
  assert.deepEqual([...pods.onDelete!(running)], ['ns'])
  assert.equal(waiting(), 1)
  const tombstone = new DeletedFinalStateUnknown<Pod>('ns/p', undefined)
  assert.deepEqual([...pods.onDelete!(tombstone)], [])
})

test('a pod that is being deleted lets go when none of its containers runs', () => {
  const { pods } = logicOf([])
  assert.deepEqual([...pods.onAdd!(pod({ deletion: DELETION }))], [])
  assert.deepEqual([...pods.onAdd!(pod({ deletion: DELETION, running: false }))], ['ns'])
  assert.deepEqual([...pods.onAdd!(pod({ running: false }))], [])
  assert.deepEqual([...pods.onAdd!(pod({ claims: [], node: '' }))], [])
})

test("Given delete and create seen as one update, then the old pod's PVC is evaluated.", () => {
  const { logic, pods } = logicOf([deleted('old'), deleted('new')])
  const before = pod({ claims: ['old'], ephemeral: ['x'] })
  const after = pod({ claims: ['new'], uid: 'other' })
  assert.deepEqual([...pods.onUpdate!(before, after)], ['ns'])
  const names = () => logic.observe('ns')?.claims.map(({ metadata }) => metadata?.name)
  assert.deepEqual(names(), ['old'])
  const both = [...pods.onUpdate!(before, { ...after, spec: { ...after.spec!, nodeName: '' } })]
  assert.deepEqual(both, ['ns', 'ns'])
  assert.deepEqual(names(), ['new', 'old'])
})

test('a claim is queued where there is something to decide; its deletion is ignored', () => {
  const { claims } = logicOf([])
  assert.equal(claims.type, resources.persistentvolumeclaims)
  assert.deepEqual([...claims.onAdd!(claim())], ['ns'])
  assert.deepEqual([...claims.onUpdate!(claim(), deleted())], ['ns'])
  assert.deepEqual([...claims.onAdd!(claim({ finalizers: [OURS] }))], [])
  assert.deepEqual([...claims.onAdd!(claim({ deleting: true }))], [])
  assert.equal(claims.onDelete, undefined)
})

const UNUSED = {
  type: 'Unused',
  status: 'True',
  reason: 'NoPodsUsingPVC',
  message: 'No pods are currently referencing this PVC',
}
const USED = {
  type: 'Unused',
  status: 'False',
  reason: 'PodUsingPVC',
  message: 'A pod is currently referencing this PVC',
}

const told: readonly (readonly [string, readonly Pod[], object])[] = [
  ['no pod', [], UNUSED],
  ['a running pod', [pod()], USED],
  ['an unscheduled pod', [pod({ node: '' })], USED],
  ['a finished pod', [pod({ phase: 'Failed' })], UNUSED],
  ['a pod of another claim', [pod({ claims: ['other'] })], UNUSED],
]
test('Given the alpha gate, then the Unused condition follows pod references.', () => {
  for (const [what, pods, wanted] of told) {
    const { writes, updates } = sync([claim({ finalizers: [OURS] }), ...pods], { gate: GATE })
    assert.deepEqual(updates, [['data', [OURS], 'status']], what)
    const [write] = writes
    assert.ok(write?.verb === 'update')
    const condition = { ...wanted, lastTransitionTime: '2026-01-01T00:00:00Z' }
    assert.deepEqual((write.object as PersistentVolumeClaim).status?.conditions, [condition])
  }
})

test('the condition is written before the finalizer, only when it changes, and not while the claim is deleted', () => {
  const known = { conditions: [{ ...UNUSED, lastTransitionTime: '2025-01-01T00:00:00Z' }] }
  const given = { gate: GATE }
  assert.deepEqual(sync([claim({ finalizers: [OURS], status: known })], given).updates, [])
  assert.deepEqual(sync([claim()], given).updates, [
    ['data', undefined, 'status'],
    ['data', [OURS], undefined],
  ])
  assert.deepEqual(sync([deleted()], given).updates, [released()])
  assert.deepEqual(sync([claim({ finalizers: [OURS] })]).updates, [])
  const failed = refused(409, 'Conflict')
  const driven = sync([claim()], { ...given, onWrite: () => failed })
  assert.deepEqual(
    [driven.writes.length, driven.result],
    [1, { error: !failed.ok && failed.error }],
  )
})

test('with the gate, all events of pods and claims without the condition are queued', () => {
  const { claims, pods } = logicOf([], GATE)
  assert.deepEqual([...pods.onAdd!(running), ...pods.onUpdate!(running, running)], ['ns', 'ns'])
  assert.deepEqual([...claims.onAdd!(claim({ finalizers: [OURS] }))], ['ns'])
  const status = { conditions: [UNUSED] }
  assert.deepEqual([...claims.onAdd!(claim({ finalizers: [OURS], status }))], [])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } =
    persistentVolumeClaimProtectionController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'persistentvolumeclaim-protection-controller',
      ['pvc-protection'],
      'pvc-protection-controller',
      true,
    ],
  )
})
