import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type {
  KubernetesObject,
  Pod,
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { deployment, pod, refused, replicaSet, secondsAgo } from '../workload-support/fixtures.ts'
import {
  CUSTOM_OWNER,
  budget,
  customKind,
  ownerListers,
  podOf,
  replicationController,
  statefulSet,
} from './fixtures.ts'
import { reconcile } from './reconcile.ts'

interface Given {
  readonly pods?: readonly Pod[]
  readonly owners?: readonly KubernetesObject[]
  readonly drive?: DriveOptions
  readonly selectorError?: Error
}

function sync(of: PodDisruptionBudget, given: Given = {}) {
  const observed = {
    key: 'ns/b',
    budget: of,
    owners: ownerListers(given.owners ?? []),
    pods() {
      if (given.selectorError !== undefined) throw given.selectorError
      return given.pods ?? []
    },
  }
  const driven = drive(reconcile(observed), given.drive)
  const statuses = driven.writes.map((write) => {
    assert.ok(write.verb === 'update' && write.subresource === 'status')
    return (write.object as PodDisruptionBudget).status
  })
  return {
    ...driven,
    statuses,
    status: statuses.at(-1),
    reasons: driven.events.map((e) => e.reason),
  }
}

const numbers = (status: PodDisruptionBudgetStatus | undefined) => [
  status?.currentHealthy,
  status?.desiredHealthy,
  status?.expectedPods,
  status?.disruptionsAllowed,
]
const conditionOf = (status: PodDisruptionBudgetStatus | undefined) => {
  const [{ status: value, reason, message } = {}] = (status?.conditions ?? []).filter(
    ({ type }) => type === 'DisruptionAllowed',
  ) as { status?: string; reason?: string; message?: string }[]
  return [value, reason, message]
}
const bare = (count: number, options: Parameters<typeof pod>[0] = {}) =>
  Array.from({ length: count }, (_, index) =>
    podOf(undefined, undefined, { name: `p${index}`, ...options }),
  )
const ofOwner = (owner: KubernetesObject, count: number, type = resources.replicasets as never) =>
  Array.from({ length: count }, (_, index) =>
    podOf(newControllerRef(owner, type), type, { name: `${owner.metadata?.name}-${index}` }),
  )

test('Given minAvailable 3, selector `{}` and no pods, then healthy 0, desired 3, expected 0; after one ready pod: healthy 1, expected 1, allowed 0', () => {
  const of = budget({ spec: { minAvailable: 3, selector: {} } })
  const none = sync(of)
  assert.deepEqual(numbers(none.status), [0, 3, 0, 0])
  assert.deepEqual(none.events, [
    { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' },
  ])
  assert.deepEqual(numbers(sync(of, { pods: bare(1) }).status), [1, 3, 1, 0])
})

test('Given minAvailable 3 and 4 ready pods, then allowed 1; when one becomes unready, then allowed 0, healthy 3, expected 4', () => {
  const of = budget({ spec: { minAvailable: 3 } })
  const all = sync(of, { pods: bare(4) })
  assert.deepEqual(numbers(all.status), [4, 3, 4, 1])
  assert.deepEqual(conditionOf(all.status), ['True', 'SufficientPods', ''])
  const unready = [...bare(3), pod({ name: 'unready' })]
  const some = sync(of, { pods: unready })
  assert.deepEqual(numbers(some.status), [3, 3, 4, 0])
  assert.deepEqual(conditionOf(some.status), ['False', 'InsufficientPods', ''])
  assert.deepEqual(some.reasons, [])
})

const SHARES: readonly (readonly [string, PodDisruptionBudget['spec'], number, number])[] = [
  ['maxUnavailable 2, RS 7', { maxUnavailable: 2 }, 7, 5],
  ['maxUnavailable 2, RS 5', { maxUnavailable: 2 }, 5, 3],
  ['maxUnavailable 30%, RS 7', { maxUnavailable: '30%' }, 7, 4],
  ['maxUnavailable 30%, RS 3', { maxUnavailable: '30%' }, 3, 2],
  ['minAvailable 34%, RS 3: rounded up', { minAvailable: '34%' }, 3, 2],
  ['minAvailable 28%, RS 11', { minAvailable: '28%' }, 11, 4],
  ['never less than none', { maxUnavailable: 9 }, 3, 0],
  ['maxUnavailable wins if both were set', { maxUnavailable: 1, minAvailable: 1 }, 3, 2],
]
for (const [title, spec, replicas, desired] of SHARES) {
  test(`Given maxUnavailable 2, RS 7 with one pod, then desired 5, expected 7; RS 5: desired 3; Given maxUnavailable 30%, RS 7, then desired 4; RS 3, then desired 2: ${title}`, () => {
    const owner = replicaSet({ replicas })
    const { status } = sync(budget({ spec: spec! }), {
      pods: ofOwner(owner, 1),
      owners: [owner],
    })
    assert.deepEqual(numbers(status), [1, desired, replicas, Math.max(0, 1 - desired)])
  })
}

test('nothing asked for: nothing expected, nothing allowed, and no owner is looked at', () => {
  const { status, reasons } = sync(budget(), { pods: bare(2) })
  assert.deepEqual([numbers(status), reasons], [[2, 0, 0, 0], []])
})

test('a negative number of healthy pods wanted allows what is healthy', () => {
  assert.deepEqual(
    numbers(sync(budget({ spec: { minAvailable: 0 } }), { pods: bare(2) }).status),
    [2, 0, 2, 2],
  )
})

test('Given minAvailable 28% and a naked pod, then 0 allowed, event UnmanagedPods, no sync error', () => {
  const { status, events, result } = sync(budget({ spec: { minAvailable: '28%' } }), {
    pods: bare(1),
  })
  assert.deepEqual([numbers(status), result.error], [[1, 0, 0, 0], undefined])
  assert.equal(events[0]?.reason, 'UnmanagedPods')
  assert.equal(
    events[0].message,
    'Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: a,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
  )
})

const unknownKind = () =>
  refused(0, 'x', 'no matches for kind "TestWorkload" in version "apps.test.io/v1"')

test('Given a pod of kind TestWorkload in group apps.test.io without mapping, then 0 allowed and CalculateExpectedPodCountFailed', () => {
  const of = budget({ spec: { maxUnavailable: 1 } })
  const { status, events, result } = sync(of, {
    pods: [podOf(CUSTOM_OWNER)],
    drive: { onKind: unknownKind },
  })
  const text = 'no matches for kind "TestWorkload" in version "apps.test.io/v1"'
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'CalculateExpectedPodCountFailed',
      message: `Failed to calculate the number of expected pods: ${text}`,
    },
  ])
  assert.deepEqual(status, {
    currentHealthy: 0,
    desiredHealthy: 0,
    disruptionsAllowed: 0,
    expectedPods: 0,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'SyncFailed',
        message: text,
        lastTransitionTime: secondsAgo(0),
      },
    ],
  })
  // The write succeeded: nothing is retried.
  assert.equal(result.error, undefined)
})

const scaleOf = (replicas: number, uid = 'custom-uid') => ({
  ok: true as const,
  object: { metadata: { name: 'custom', uid }, spec: { replicas } } as KubernetesObject,
})

test('Given a custom resource with scale, then its replicas are used; stale UID or 404 handled', () => {
  const of = budget({ spec: { maxUnavailable: 1 } })
  const two = [
    podOf(CUSTOM_OWNER, undefined, { name: 'p0' }),
    podOf(CUSTOM_OWNER, undefined, { name: 'p1' }),
  ]
  const mapped = (hasScale: boolean) => () => ({ ok: true as const, object: customKind(hasScale) })
  const asked: unknown[] = []
  const found = sync(of, {
    pods: two,
    drive: {
      onKind: ({ group, kind, version }) => {
        asked.push(`${group}/${version} ${kind}`)
        return mapped(true)()
      },
      onRead: (read) => {
        assert.ok(read.verb === 'get')
        asked.push([read.type.resource, read.namespace, read.name, read.subresource])
        return scaleOf(5)
      },
    },
  })
  assert.deepEqual(numbers(found.status), [2, 4, 5, 0])
  // One owner is asked once, however many pods it has.
  assert.deepEqual(asked, [
    'apps.test.io/v1 TestWorkload',
    ['testworkloads', 'ns', 'custom', 'scale'],
  ])
  const failing = (hasScale: boolean, onRead: DriveOptions['onRead']) =>
    conditionOf(sync(of, { pods: two, drive: { onKind: mapped(hasScale), onRead } }).status)[2]
  const gone = () => refused(404, 'NotFound', 'gone')
  assert.equal(failing(true, gone), 'found no controllers for pod "p0"')
  assert.equal(
    failing(false, gone),
    'testworkloads.apps.test.io does not implement the scale subresource',
  )
  assert.equal(
    failing(true, () => scaleOf(5, 'other')),
    'found no controllers for pod "p0"',
  )
  assert.equal(
    failing(true, () => refused(500, 'InternalError', 'broken')),
    'broken',
  )
  const scale = { kind: 'Scale', metadata: { uid: CUSTOM_OWNER.uid }, spec: { replicas: 5 } }
  const unreadable = { ...scale, status: { replicas: 5, selector: 'app!=x' } }
  assert.equal(
    failing(true, () => ({ ok: true, object: unreadable })),
    'received an object from a /scale endpoint which was not convertible to autoscaling Scale: failed to parse target selector: "!=" is not a valid label selector operator',
  )
})

test('an owner of a cluster-wide kind is looked for in the namespace of its pod, where it is not', () => {
  const reads: unknown[] = []
  const { status } = sync(budget({ spec: { maxUnavailable: 1 } }), {
    pods: [podOf(CUSTOM_OWNER, undefined, { name: 'p' })],
    drive: {
      onKind: () => ({ ok: true, object: customKind(true, false) }),
      onRead: (read) => {
        assert.ok(read.verb === 'get')
        reads.push([read.namespace, read.type.namespaced])
        return refused(404, 'NotFound', 'gone')
      },
    },
  })
  assert.deepEqual(reads, [['ns', true]])
  assert.equal(conditionOf(status)[2], 'found no controllers for pod "p"')
})

test('Given minAvailable 34% and RC 3, then desired 2 and allowed 0, 0, 1 as pods appear; an extra unmanaged ready pod makes it 2', () => {
  const rc = replicationController(3)
  const of = budget({ spec: { minAvailable: '34%' } })
  const own = ofOwner(rc, 3, resources.replicationcontrollers as never)
  const allowed = [1, 2, 3].map((count) => sync(of, { pods: own.slice(0, count), owners: [rc] }))
  assert.deepEqual(
    allowed.map(({ status }) => [status?.desiredHealthy, status?.disruptionsAllowed]),
    [
      [2, 0],
      [2, 0],
      [2, 1],
    ],
  )
  const extra = sync(of, { pods: [...own, ...bare(1)], owners: [rc] })
  assert.deepEqual([extra.status?.disruptionsAllowed, extra.reasons], [2, ['UnmanagedPods']])
})

test('Given minAvailable 28%, one RC of 11: desired 4; plus a bare ReplicaSet of 11: expected 22, desired 7', () => {
  const rc = replicationController(11)
  const rs = replicaSet({ replicas: 11 })
  const of = budget({ spec: { minAvailable: '28%' } })
  const ofRc = ofOwner(rc, 2, resources.replicationcontrollers as never)
  const one = sync(of, { pods: ofRc, owners: [rc] })
  assert.equal(one.status?.desiredHealthy, 4)
  const two = sync(of, { pods: [...ofRc, ...ofOwner(rs, 2)], owners: [rc, rs] })
  assert.deepEqual([two.status?.expectedPods, two.status?.desiredHealthy], [22, 7])
})

const web = deployment({ replicas: 4 })
const controlled = (name: string, by = web) =>
  replicaSet({
    name,
    replicas: 9,
    metadata: { ownerReferences: [newControllerRef(by, resources.deployments)] },
  })

test('a Deployment speaks for its ReplicaSets, once for all of them', () => {
  const [old, next] = [controlled('old'), controlled('next')]
  const { status } = sync(budget({ spec: { maxUnavailable: 1 } }), {
    pods: [...ofOwner(old, 2), ...ofOwner(next, 2)],
    owners: [web, old, next],
  })
  assert.deepEqual([status?.expectedPods, status?.desiredHealthy], [4, 3])
})

test('A ReplicaSet whose Deployment is gone from cache falls through to 5 (scale of the ReplicaSet)', () => {
  const orphaned = controlled('old')
  const asked: string[] = []
  const { status } = sync(budget({ spec: { maxUnavailable: 1 } }), {
    pods: ofOwner(orphaned, 1),
    owners: [orphaned, { ...web, metadata: { ...web.metadata, uid: 'another' } }],
    drive: {
      onKind: ({ kind }) => {
        asked.push(kind)
        return { ok: true, object: { ...customKind(true), ...resources.replicasets } }
      },
      onRead: () => scaleOf(9, orphaned.metadata?.uid),
    },
  })
  assert.deepEqual([asked, status?.expectedPods], [['ReplicaSet'], 9])
})

test('a ReplicaSet that some other kind controls speaks for itself; a Deployment of another group is none', () => {
  const reference = (apiVersion: string, kind: string) => ({
    metadata: {
      ownerReferences: [{ apiVersion, kind, name: 'web', uid: 'web-uid', controller: true }],
    },
  })
  const rollout = replicaSet({ replicas: 3, ...reference('acme.test/v1', 'Rollout') })
  const spec = { maxUnavailable: 1 }
  const own = sync(budget({ spec }), { pods: ofOwner(rollout, 1), owners: [rollout, web] })
  assert.equal(own.status?.expectedPods, 3)
  const foreign = replicaSet({ replicas: 3, ...reference('acme.test/v1', 'Deployment') })
  const other = sync(budget({ spec }), {
    pods: ofOwner(foreign, 1),
    owners: [foreign, web],
    drive: { onKind: unknownKind },
  })
  assert.equal(conditionOf(other.status)[1], 'SyncFailed')
})

test('a StatefulSet of group apps is counted', () => {
  const set = statefulSet(5)
  const spec = { maxUnavailable: 1 }
  const pods = ofOwner(set, 1, resources.statefulsets as never)
  assert.equal(sync(budget({ spec }), { pods, owners: [set] }).status?.expectedPods, 5)
})

const FOREIGN: readonly (readonly [string, string, KubernetesObject])[] = [
  ['a ReplicationController of a group', 'apps/v1', replicationController(3)],
  ['a StatefulSet of the core group', 'v1', statefulSet(3)],
  ['a ReplicaSet of the core group', 'v1', replicaSet()],
]
for (const [title, apiVersion, owner] of FOREIGN) {
  test(`an owner of a common kind under another group is looked for as any other: ${title}`, () => {
    const { name = '', uid = '' } = owner.metadata ?? {}
    const reference = { apiVersion, kind: owner.kind!, name, uid, controller: true }
    const asked: string[] = []
    sync(budget({ spec: { maxUnavailable: 1 } }), {
      pods: [podOf(reference)],
      owners: [owner],
      drive: {
        onKind: ({ group, version, kind }) => {
          asked.push(`${group}/${version}/${kind}`)
          return refused(0, 'x', 'none')
        },
      },
    })
    const group = apiVersion === 'v1' ? '/v1' : apiVersion
    assert.deepEqual(asked, [`${group}/${owner.kind}`])
  })
}

test('an owner with another uid is none', () => {
  const rs = replicaSet()
  const asked: string[] = []
  sync(budget({ spec: { maxUnavailable: 1 } }), {
    pods: ofOwner({ ...rs, metadata: { ...rs.metadata, uid: 'earlier' } }, 1),
    owners: [rs],
    drive: {
      onKind: ({ kind }) => {
        asked.push(kind)
        return refused(0, 'x', 'none')
      },
    },
  })
  assert.deepEqual(asked, ['ReplicaSet'])
})

test('an invalid percentage fails the sync', () => {
  const { status, reasons } = sync(budget({ spec: { minAvailable: 'x' } }))
  assert.deepEqual(
    [conditionOf(status)[1], reasons],
    ['SyncFailed', ['NoPods', 'CalculateExpectedPodCountFailed']],
  )
})

test('Given entries p1 (terminating), p2 (3 min old), p3 (1 min old) and one for a missing pod, then only p3 stays, healthy 1, expected 3', () => {
  const status: PodDisruptionBudgetStatus = {
    disruptedPods: {
      p1: secondsAgo(60),
      p2: secondsAgo(180),
      p3: secondsAgo(60),
      missing: secondsAgo(60),
    },
  }
  const named = (name: string, deleting = false) => podOf(undefined, undefined, { name, deleting })
  const driven = sync(budget({ spec: { minAvailable: 1 }, status }), {
    pods: [named('p1', true), named('p2'), named('p3')],
  })
  assert.deepEqual(driven.status?.disruptedPods, { p3: secondsAgo(60) })
  assert.deepEqual(numbers(driven.status), [1, 1, 3, 0])
  assert.deepEqual(driven.events, [
    {
      type: 'Warning',
      reason: 'NotDeleted',
      message: "Pod was expected by PDB ns/ns to be deleted but it wasn't",
    },
  ])
  assert.equal(driven.result.recheckAfterMs, 60_001)
})

const AGES: readonly (readonly [string, number, boolean, number])[] = [
  ['just before the two minutes it is awaited', 119, true, 0],
  ['at the two minutes it is kept, and healthy again', 120, true, 1],
  ['after them it is dropped', 121, false, 1],
]
for (const [title, ageSeconds, kept, healthy] of AGES) {
  test(`A pod in disruptedPods is unhealthy for the budget until it terminates or 2 minutes pass: ${title}`, () => {
    const known = { p0: secondsAgo(ageSeconds) }
    const of = budget({ spec: { minAvailable: 1 }, status: { disruptedPods: known } })
    const { status } = sync(of, { pods: bare(1) })
    assert.deepEqual(
      [status?.disruptedPods, status?.currentHealthy],
      [kept ? known : undefined, healthy],
    )
  })
}

test('the first entry to be overdue says when to look again', () => {
  const known = { p0: secondsAgo(30), p1: secondsAgo(90) }
  const of = budget({ spec: { minAvailable: 1 }, status: { disruptedPods: known } })
  assert.equal(sync(of, { pods: bare(2) }).result.recheckAfterMs, 30_001)
  const failing = sync(of, { pods: bare(2), drive: { onWrite: () => refused(409, 'Conflict') } })
  assert.equal(failing.result.recheckAfterMs, undefined)
})

test('Given a concurrent eviction between read and write, then the 409 leads to a requeue and allowed ends at 0', () => {
  const of = budget({ spec: { minAvailable: 1 } })
  const driven = sync(of, {
    pods: bare(2),
    drive: { onWrite: () => refused(409, 'Conflict', 'changed') },
  })
  // Written once, on the version that was read, and not taken for a failure.
  const [only] = driven.writes
  assert.ok(only?.verb === 'update')
  assert.deepEqual([driven.writes.length, only.object.metadata?.resourceVersion], [1, '10'])
  assert.equal((driven.result.error as Error).message, 'changed')
  const evicted = budget({
    spec: { minAvailable: 1 },
    status: {
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
      disruptionsAllowed: 0,
      observedGeneration: 3,
      disruptedPods: { p0: secondsAgo(0) },
    },
  })
  assert.deepEqual(numbers(sync(evicted, { pods: bare(2) }).status), [1, 1, 2, 0])
})

test('any other refusal of the status takes the fail-safe path, and its outcome is the verdict', () => {
  const of = budget({
    spec: { minAvailable: 1 },
    status: { disruptionsAllowed: 1, currentHealthy: 2, observedGeneration: 2 },
  })
  const broken = (also: boolean) =>
    sync(of, {
      pods: bare(2),
      drive: {
        onWrite: (_, index) => (index === 0 || also ? refused(500, 'x', `no ${index}`) : undefined),
      },
    })
  const once = broken(false)
  assert.deepEqual(conditionOf(once.status), ['False', 'SyncFailed', 'no 0'])
  assert.deepEqual([once.status?.disruptionsAllowed, once.status?.currentHealthy], [0, 2])
  assert.equal(once.status?.conditions?.[0]?.observedGeneration, 2)
  assert.equal(once.result.error, undefined)
  assert.equal((broken(true).result.error as Error).message, 'no 1')
})

test('Given an invalid selector, then status stays 0 with SyncFailed', () => {
  const { status, events } = sync(budget({ spec: { minAvailable: 1 } }), {
    selectorError: new Error('bad selector'),
  })
  assert.deepEqual(
    [numbers(status), conditionOf(status)],
    [
      [0, 0, 0, 0],
      ['False', 'SyncFailed', 'bad selector'],
    ],
  )
  assert.deepEqual(events, [
    { type: 'Warning', reason: 'NoPods', message: 'Failed to get pods: bad selector' },
  ])
})

test('Given a foreign condition, then it is kept and DisruptionAllowed added', () => {
  const mine = {
    type: 'Mine',
    status: 'True',
    reason: 'R',
    message: 'm',
    lastTransitionTime: secondsAgo(9),
  } as const
  const { status } = sync(budget({ spec: { minAvailable: 1 }, status: { conditions: [mine] } }), {
    pods: bare(1),
  })
  assert.deepEqual(
    status?.conditions?.map(({ type }) => type),
    ['Mine', 'DisruptionAllowed'],
  )
  assert.deepEqual(status?.conditions[0], mine)
})

const settled = sync(budget({ spec: { minAvailable: 1 } }), { pods: bare(2) }).status!

test('a status that is as it should be is not written', () => {
  const of = budget({ spec: { minAvailable: 1 }, status: settled })
  assert.deepEqual(sync(of, { pods: bare(2) }).effects, [])
  // Nil and empty are equal.
  const empty = budget({ spec: { minAvailable: 1 }, status: { ...settled, disruptedPods: {} } })
  assert.deepEqual(sync(empty, { pods: bare(2) }).effects, [])
})

const STALE: readonly (readonly [string, PodDisruptionBudgetStatus])[] = [
  ['healthy pods', { ...settled, currentHealthy: 7 }],
  ['wanted pods', { ...settled, desiredHealthy: 7 }],
  ['expected pods', { ...settled, expectedPods: 7 }],
  ['allowed disruptions', { ...settled, disruptionsAllowed: 7 }],
  ['the generation', { ...settled, observedGeneration: 2 }],
  ['disrupted pods', { ...settled, disruptedPods: { nobody: secondsAgo(1) } }],
  ['no condition', { ...settled, conditions: [] }],
  [
    'the reason of the condition',
    { ...settled, conditions: [{ ...settled.conditions![0]!, reason: 'Other' }] },
  ],
  [
    'the status of the condition',
    { ...settled, conditions: [{ ...settled.conditions![0]!, status: 'Unknown' }] },
  ],
]
for (const [title, status] of STALE) {
  test(`a status that differs is written: ${title}`, () => {
    const driven = sync(budget({ spec: { minAvailable: 1 }, status }), { pods: bare(2) })
    assert.equal(driven.writes.length, 1)
    assert.deepEqual(numbers(driven.status), numbers(settled))
  })
}

test('a written time counts by its value', () => {
  const awaited = { p0: '2026-01-01T00:00:00Z' }
  const first = sync(budget({ spec: { minAvailable: 1 }, status: { disruptedPods: awaited } }), {
    pods: bare(2),
  })
  const rewritten = { ...first.status!, disruptedPods: { p0: '2026-01-01T01:00:00+01:00' } }
  assert.deepEqual(
    sync(budget({ spec: { minAvailable: 1 }, status: rewritten }), { pods: bare(2) }).writes,
    [],
  )
})

test('lastTransitionTime changes only when status changes; condition.observedGeneration follows the status', () => {
  const conditions = [
    { ...settled.conditions![0]!, lastTransitionTime: secondsAgo(99), observedGeneration: 2 },
  ]
  const of = budget({
    spec: { minAvailable: 1 },
    status: { ...settled, observedGeneration: 2, conditions },
  })
  const [kept] = sync(of, { pods: bare(2) }).status?.conditions ?? []
  assert.deepEqual([kept?.lastTransitionTime, kept?.observedGeneration], [secondsAgo(99), 3])
  const [moved] = sync(of, { pods: bare(1) }).status?.conditions ?? []
  assert.equal(moved?.lastTransitionTime, secondsAgo(0))
})

test('after an error a budget whose status says nothing of a generation has observed none', () => {
  const status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }
  const { status: failed } = sync(budget({ status }), { selectorError: new Error('no') })
  const [condition] = failed!.conditions!
  assert.equal(condition!.reason, 'SyncFailed')
  assert.equal('observedGeneration' in condition!, false)
})

test('one pod of one, of which none must stay, may go, and that is written once', () => {
  const of = (status?: PodDisruptionBudgetStatus) =>
    budget({ spec: { minAvailable: 0 }, ...(status && { status }) })
  const pods = [podOf(replicationController(1))]
  const { status } = sync(of(), { pods })
  assert.deepEqual(numbers(status), [1, 0, 1, 1])
  assert.deepEqual(sync(of(status), { pods }).statuses, [])
})

test('a fixed budget keeps what somebody else wrote into its status', () => {
  const status = { mine: 1 } as unknown as PodDisruptionBudgetStatus
  const written = sync(budget({ spec: { minAvailable: 0 }, status }), { pods: [] }).status
  assert.equal((written as unknown as { mine?: number }).mine, 1)
})

test('unmanaged pods are told of with a warning', () => {
  const { events } = sync(budget({ spec: { maxUnavailable: 1 } }), { pods: [podOf(undefined)] })
  const [unmanaged] = events.filter(({ reason }) => reason === 'UnmanagedPods')
  assert.equal(unmanaged?.type, 'Warning')
  assert.equal(
    unmanaged.message,
    'Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: a,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
  )
})

test('a ReplicaSet and its Deployment are found by the old group as well', () => {
  const controlled = (apiVersion: string, kind: string, name: string, uid: string) => ({
    apiVersion,
    kind,
    name,
    uid,
    controller: true,
  })
  const ownerReferences = [controlled('extensions/v1beta1', 'Deployment', 'web', 'web-uid')]
  const owners = [deployment({ replicas: 7 }), replicaSet({ metadata: { ownerReferences } })]
  const pods = [podOf(controlled('extensions/v1beta1', 'ReplicaSet', 'rs', 'rs-uid'))]
  const { status } = sync(budget({ spec: { maxUnavailable: 1 } }), { pods, owners })
  assert.deepEqual(numbers(status), [1, 6, 7, 0])
})
