import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ControllerRevision, DaemonSet, Node, Pod } from '@gyropilot/api'
import type { Verdict, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { TEMPLATE, refused, secondsAgo } from '../workload-support/fixtures.ts'
import { HASH_LABEL } from './daemon-pod.ts'
import { HASH, OLD_HASH, daemonPod, daemonSet, nodes, revision } from './fixtures.ts'
import { nodeDecisions } from './node-decision.ts'
import { reconcile } from './reconcile.ts'

interface Given {
  readonly owner?: DaemonSet
  readonly nodes?: readonly Node[]
  readonly pods?: readonly Pod[]
  /** From the second look on. */
  readonly laterPods?: readonly Pod[]
  readonly revisions?: readonly ControllerRevision[]
  /** Answers of expectations, one after the other; the last stays. */
  readonly expectationsMet?: readonly boolean[]
  readonly waitMs?: number
}

function synced(given: Given, options: DriveOptions = {}) {
  const { owner = daemonSet(), expectationsMet = [true] } = given
  const onNodes = given.nodes ?? nodes(1)
  const answers = [...expectationsMet]
  const asked: string[] = []
  const { writes, events, result, effects } = drive(
    reconcile(
      {
        key: 'ns/ds',
        daemonSet: owner,
        expectationsMet() {
          asked.push('expectations')
          return answers.length > 1 ? answers.shift()! : answers[0]!
        },
        nodes: () => onNodes,
        nodeNamed: (name) => onNodes.find(({ metadata }) => metadata?.name === name),
        pods() {
          asked.push('pods')
          const isLater = asked.filter((what) => what === 'pods').length > 1
          return (isLater ? given.laterPods : undefined) ?? given.pods ?? []
        },
        revisions: () => given.revisions ?? [revision()],
      },
      {
        decide: nodeDecisions(),
        failedPods: { waitMs: () => given.waitMs, replaced() {} },
      },
    ),
    options,
  )
  return {
    asked,
    effects,
    events: events.map(({ reason, message, type }) => `${type} ${reason} ${message}`),
    verdict: (result ?? {}) as Verdict,
    did: writes.map(described),
    status: writes
      .filter((write) => write.verb === 'update' && write.subresource === 'status')
      .map((write) => (write.verb === 'update' ? (write.object as DaemonSet).status : undefined))
      .at(-1),
  }
}

function described(write: Write): string {
  const { kind } = write.type
  if (write.verb === 'delete' || write.verb === 'patch')
    return `${write.verb} ${kind} ${write.name}`
  return `${write.verb} ${kind}${'subresource' in write && write.subresource ? '/status' : ''}`
}

const STATUS = {
  currentNumberScheduled: 1,
  desiredNumberScheduled: 1,
  updatedNumberScheduled: 1,
  numberUnavailable: 1,
  observedGeneration: 1,
}

test('Given selector `{}`, then no pod is deleted and an event is emitted', () => {
  const base = daemonSet()
  for (const selector of [{}, { matchLabels: {} }, { matchExpressions: [] }]) {
    const owner = { ...base, spec: { ...base.spec!, selector } }
    const { did, events } = synced({ owner, pods: [daemonPod('gone', { waiting: true })] })
    assert.deepEqual(did, [])
    assert.deepEqual(events, [
      'Warning SelectingAll This daemon set is selecting all pods. A non-empty selector is required.',
    ])
  }
})

test('without a selector nothing is selected, and that is no event', () => {
  const base = daemonSet()
  const owner = { ...base, spec: { ...base.spec!, selector: undefined! } }
  const { events, did } = synced({ owner, revisions: [], expectationsMet: [false] })
  assert.deepEqual(events, [])
  assert.deepEqual(did, ['create ControllerRevision', 'update DaemonSet/status'])
})

test('A DS being deleted is not touched at all (neither pods nor status); garbage collection removes pods.', () => {
  const owner = daemonSet({ metadata: { deletionTimestamp: secondsAgo(1) } })
  const { did, effects } = synced({ owner, revisions: [] })
  assert.deepEqual([did, effects], [[], []])
})

test('Given the DS deleted in cache or only live, then nothing is created or adopted', () => {
  const live = daemonSet({ metadata: { deletionTimestamp: secondsAgo(1) } })
  const { did, verdict } = synced(
    { pods: [daemonPod('n0', { owner: null })] },
    { onRead: () => ({ ok: true, object: live }) },
  )
  assert.deepEqual(did, [])
  assert.match(String(verdict.error), /can't adopt Pod .* has just been deleted at/)
})

test('a history that fails ends the sync', () => {
  const refusal = refused(500, 'InternalError', 'no history')
  const { did, verdict } = synced({ revisions: [] }, { onWrite: () => refusal })
  assert.deepEqual(did, ['create ControllerRevision'])
  assert.equal((verdict.error as Error).message, 'no history')
})

test('pods that were relabelled are looked at when the cache shows it', () => {
  const { did, verdict } = synced({
    revisions: [revision(), revision({ name: 'twin', hash: 'twin', revision: 2 })],
    pods: [daemonPod('n0')],
  })
  assert.deepEqual(did, ['patch Pod on-n0', `delete ControllerRevision ds-${HASH}`])
  assert.deepEqual(verdict, {})
})

test('while expectations are pending only the status is written, and its generation stays', () => {
  const owner = daemonSet({ metadata: { generation: 2 }, status: { observedGeneration: 1 } })
  const { did, status } = synced({ owner, expectationsMet: [false] })
  assert.deepEqual(did, ['update DaemonSet/status'])
  assert.deepEqual([status?.observedGeneration, status?.desiredNumberScheduled], [1, 1])
})

test('expectations are asked for before the pods that must show them', () => {
  assert.deepEqual(synced({}).asked.slice(0, 2), ['expectations', 'pods'])
})

test('a missing pod is created with the hash of the current revision, and the status counts', () => {
  const { did, status, verdict } = synced({ expectationsMet: [true, false] })
  assert.deepEqual(did, ['create Pod', 'update DaemonSet/status'])
  assert.deepEqual([status?.desiredNumberScheduled, status?.observedGeneration], [1, 1])
  assert.deepEqual(verdict, {})
})

test('what is created or deleted is awaited under the key, by the rollout too', () => {
  const old = daemonPod('n0', { hash: OLD_HASH, readySeconds: 5 })
  const awaited = (given: Given) =>
    synced(given).effects.flatMap((effect) => {
      if (effect.effect !== 'writes') return []
      const hashes = effect.writes.flatMap((write) =>
        write.verb === 'create' ? [write.object.metadata?.labels?.[HASH_LABEL]] : [],
      )
      return [[effect.expectations?.key, effect.expectations?.kind, hashes]]
    })
  assert.deepEqual(awaited({ expectationsMet: [true, false] }), [['ns/ds', 'creations', [HASH]]])
  assert.deepEqual(awaited({ pods: [old] }), [['ns/ds', 'deletions', []]])
  const owner = daemonSet({ rolling: { maxUnavailable: 0, maxSurge: 1 } })
  assert.deepEqual(awaited({ pods: [old], owner }), [['ns/ds', 'creations', [HASH]]])
})

test('Rolling updates stop while this sync’s creates are unobserved.', () => {
  const old = daemonPod('n0', { hash: OLD_HASH, readySeconds: 5 })
  const given = {
    nodes: nodes(3),
    pods: [old],
    owner: daemonSet({ rolling: { maxUnavailable: 3 } }),
  }
  assert.deepEqual(synced({ ...given, expectationsMet: [true, false] }).did, [
    'create Pod',
    'create Pod',
    'update DaemonSet/status',
  ])
  assert.ok(synced({ ...given, expectationsMet: [true, true] }).did.includes('delete Pod on-n0'))
})

test('with OnDelete old pods stay', () => {
  const pods = [daemonPod('n0', { hash: OLD_HASH })]
  const owner = daemonSet({ onDelete: true, status: { ...STATUS, updatedNumberScheduled: 0 } })
  assert.deepEqual(synced({ owner, pods }).did, [])
  assert.deepEqual(synced({ pods }).did, ['delete Pod on-n0', 'update DaemonSet/status'])
})

test('Given a Failed pod, when synced twice, then the first deletes it with an event, the second waits for back-off', () => {
  const pods = [daemonPod('n0', { phase: 'Failed' })]
  const owner = daemonSet({ status: STATUS })
  const first = synced({ owner, pods })
  assert.equal(first.did[0], 'delete Pod on-n0')
  assert.deepEqual(first.events, [
    'Warning FailedDaemonPod Found failed daemon pod ns/on-n0 on node n0, will try to kill it',
    'Normal SuccessfulDelete Deleted pod: on-n0',
  ])
  const second = synced({ owner, pods, waitMs: 750, expectationsMet: [true, false] })
  assert.deepEqual([second.did, second.events], [[], []])
  assert.deepEqual(second.verdict, { requeueAfterMs: 750 })
})

test('a Succeeded pod is deleted with an event of its own', () => {
  const { did, events } = synced({ pods: [daemonPod('n0', { phase: 'Succeeded' })], waitMs: 9 })
  assert.equal(did[0], 'delete Pod on-n0')
  assert.equal(
    events[0],
    'Normal SucceededDaemonPod Found succeeded daemon pod ns/on-n0 on node n0, will try to delete it',
  )
})

test('Status is written even if pod creation failed.', () => {
  const refusal = refused(403, 'Forbidden', 'exceeded quota')
  const old = revision({
    name: 'old',
    hash: OLD_HASH,
    revision: 0,
    template: { ...TEMPLATE, spec: { containers: [] } },
  })
  const { did, verdict, status } = synced(
    { owner: daemonSet({ historyLimit: 0 }), revisions: [revision(), old] },
    { onWrite: ({ verb }) => (verb === 'create' ? refusal : undefined) },
  )
  assert.deepEqual(did, ['create Pod', 'update DaemonSet/status'])
  assert.equal(status?.observedGeneration, 1)
  assert.equal((verdict.error as Error).message, 'exceeded quota')
})

test('a rollout that fails keeps the history and is the error; the status is written', () => {
  const pods = [daemonPod('n0', { hash: OLD_HASH })]
  const { did, verdict } = synced(
    { pods },
    {
      onWrite: ({ verb }) => (verb === 'delete' ? refused(500, 'InternalError', 'no') : undefined),
    },
  )
  assert.deepEqual(did, ['delete Pod on-n0', 'update DaemonSet/status'])
  assert.equal((verdict.error as Error).message, 'unable to delete pods: no')
})

test('pods are looked at again before the rollout; what cannot be adopted then is the error', () => {
  const live = daemonSet({ metadata: { deletionTimestamp: secondsAgo(1) } })
  const pods = [daemonPod('n0', { hash: OLD_HASH })]
  const laterPods = [...pods, daemonPod('n0', { name: 'late', owner: null })]
  const { did, verdict } = synced(
    { pods, laterPods },
    { onRead: () => ({ ok: true, object: live }) },
  )
  assert.deepEqual(did, [])
  assert.match(String(verdict.error), /can't adopt Pod ns\/late/)
})

test('limits that are none are an error, and the status is written', () => {
  const owner = daemonSet({ rolling: { maxUnavailable: 'many' } })
  const { did, verdict } = synced({ owner, pods: [daemonPod('n0')] })
  assert.deepEqual(did, ['update DaemonSet/status'])
  assert.match(String(verdict.error), /is not a percentage/)
})

test('old history is cleaned up, by the labels of all pods', () => {
  const old = (name: string, number: number) =>
    revision({
      name,
      hash: name,
      revision: number,
      template: { ...TEMPLATE, spec: { containers: [{ name, image: 'i' }] } },
    })
  const { did } = synced({
    owner: daemonSet({ historyLimit: 0, onDelete: true, status: STATUS }),
    revisions: [revision({ revision: 9 }), old('a', 1), old('b', 2)],
    pods: [
      daemonPod('n0'),
      daemonPod('n0', { name: 'ended', hash: 'a', phase: 'Failed', deleting: true }),
    ],
  })
  assert.deepEqual(did, ['delete ControllerRevision b'])
})

test('a clean-up that fails is the error, after the status', () => {
  const old = revision({
    name: 'old',
    hash: OLD_HASH,
    revision: 0,
    template: { ...TEMPLATE, spec: { containers: [] } },
  })
  const { did, verdict } = synced(
    {
      owner: daemonSet({ historyLimit: 0 }),
      revisions: [revision(), old],
      pods: [daemonPod('n0')],
    },
    {
      onWrite: ({ verb }) => (verb === 'delete' ? refused(500, 'InternalError', 'no') : undefined),
    },
  )
  assert.deepEqual(did, ['delete ControllerRevision old', 'update DaemonSet/status'])
  assert.equal((verdict.error as Error).message, 'no')
})

test('a status that cannot be written is the error', () => {
  const { verdict } = synced(
    { pods: [daemonPod('n0')] },
    {
      onWrite: () => refused(500, 'InternalError', 'no'),
      onRead: () => refused(404, 'NotFound', 'gone'),
    },
  )
  assert.equal((verdict.error as Error).message, 'gone')
})

test('ready pods that are not yet available are looked at again after minReadySeconds', () => {
  const owner = daemonSet({ minReadySeconds: 10 })
  const pods = (readySeconds: number) => [daemonPod('n0', { readySeconds })]
  assert.deepEqual(synced({ owner, pods: pods(5) }).verdict, { requeueAfterMs: 10_000 })
  assert.deepEqual(synced({ owner, pods: pods(10) }).verdict, {})
  const brief = daemonSet({ minReadySeconds: 1 })
  assert.deepEqual(synced({ owner: brief, pods: pods(0) }).verdict, { requeueAfterMs: 1_000 })
  assert.deepEqual(synced({ owner, pods: pods(5), expectationsMet: [false] }).verdict, {
    requeueAfterMs: 10_000,
  })
})

test('a new pod beside an old one is looked at again when it will be available, by whatever clock', () => {
  const owner = daemonSet({ minReadySeconds: 10, rolling: { maxUnavailable: 0, maxSurge: 1 } })
  const old = daemonPod('n0', { name: 'old', hash: OLD_HASH, ageSeconds: 90, readySeconds: 60 })
  const after = (readySeconds: number) =>
    synced({
      owner,
      pods: [old, daemonPod('n0', { name: 'new', ageSeconds: 5, readySeconds })],
    }).verdict
  assert.deepEqual(after(4), { requeueAfterMs: 6_000 })
  assert.deepEqual(after(-200), { requeueAfterMs: 210_000 })
  assert.deepEqual(after(10), {})
})

test('of two reasons to look again the sooner counts', () => {
  const owner = daemonSet({ minReadySeconds: 10 })
  const pods = [daemonPod('n0', { readySeconds: 5 }), daemonPod('n1', { phase: 'Failed' })]
  for (const [waitMs, requeueAfterMs] of [
    [700, 700],
    [20_000, 10_000],
  ] as const)
    assert.deepEqual(synced({ owner, pods, nodes: nodes(2), waitMs }).verdict, { requeueAfterMs })
})

test('a healthy DaemonSet of one template asks for nothing', () => {
  const owner = daemonSet({
    status: { ...STATUS, numberReady: 1, numberAvailable: 1, numberUnavailable: 0 },
  })
  const { did, events, verdict } = synced({ owner, pods: [daemonPod('n0', { readySeconds: 1 })] })
  assert.deepEqual([did, events, verdict], [[], [], {}])
})

test('orphans that match are adopted, pods that no longer match are released and replaced', () => {
  const stranger = daemonPod('n0', { labels: { app: 'other' } })
  const orphan = daemonPod('n1', { owner: null })
  const { did } = synced(
    { nodes: nodes(2), pods: [stranger, orphan], expectationsMet: [true, false] },
    { onRead: () => ({ ok: true, object: daemonSet() }) },
  )
  assert.deepEqual(did.slice(0, 3), ['patch Pod on-n0', 'patch Pod on-n1', 'create Pod'])
})

test('a DaemonSet that found a revision of an earlier one of its name looks again after a second: that one will be collected', () => {
  const found = (uid: string) => {
    const object = { object: daemonSet({ uid }), type: resources.daemonsets }
    const onRead = () => ({ ok: true, object: revision({ owner: object }) }) as const
    const onWrite = ({ type }: Write) =>
      type === resources.controllerrevisions ? refused(409, 'AlreadyExists') : undefined
    return synced({ revisions: [], pods: [daemonPod('n0')] }, { onRead, onWrite }).verdict
  }
  assert.deepEqual(found('before'), { requeueAfterMs: 1_000 })
  assert.deepEqual(found(daemonSet().metadata!.uid!), {})
})
