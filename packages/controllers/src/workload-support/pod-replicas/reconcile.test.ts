import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Pod, ReplicaSet } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import type { Outcome, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { NOW_MS, pod, pods, refused, replicaSet, secondsAgo } from '../fixtures.ts'
import { REPLICA_SETS } from './fixtures.ts'
import type { ObservedReplicas } from './observe.ts'
import { reconcile } from './reconcile.ts'
import type { ReplicaSettings } from './reconcile.ts'

interface Given {
  readonly pods?: readonly Pod[]
  readonly expectationsMet?: boolean
  readonly restMs?: number
  readonly related?: readonly Pod[]
  readonly settings?: Partial<ReplicaSettings>
  readonly drive?: DriveOptions
}

function sync(set: ReplicaSet, given: Given = {}) {
  const observed: ObservedReplicas<ReplicaSet> = {
    key: 'ns/rs',
    owner: set,
    expectationsMet: given.expectationsMet ?? true,
    pods: given.pods ?? [],
    restMs: given.restMs ?? 0,
    relatedPods: () => given.related ?? [],
  }
  const settings = {
    burstReplicas: 500,
    deletionCost: true,
    terminatingReplicas: true,
    ...given.settings,
  }
  const driven = drive(reconcile(observed, REPLICA_SETS, settings), {
    onRead: () => ({ ok: true, object: set }),
    ...given.drive,
  })
  const verdict = driven.result ?? {}
  return {
    ...driven,
    verdict,
    created: driven.writes.filter(({ verb }) => verb === 'create').length,
    deleted: driven.writes.flatMap((write) => (write.verb === 'delete' ? [write.name] : [])),
    patched: driven.writes.flatMap((write) => (write.verb === 'patch' ? [write.name] : [])),
    status: statusWrites(driven.writes).at(-1)?.status,
    statusWrites: statusWrites(driven.writes),
  }
}

function statusWrites(writes: readonly Write[]): readonly ReplicaSet[] {
  return writes.flatMap((write) =>
    write.verb === 'update' && write.subresource === 'status' ? [write.object as ReplicaSet] : [],
  )
}

const failCreates =
  (answer: Outcome<never>) =>
  (write: Write): Outcome<KubernetesObject> | undefined =>
    write.verb === 'create' ? answer : undefined

const owner = replicaSet()
const ready = { owner, readySeconds: 5 }

test('Given 2 desired and 2 owned pods, when synced, then nothing is created or deleted', () => {
  const status = {
    replicas: 2,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    terminatingReplicas: 0,
    observedGeneration: 1,
  }
  const set = replicaSet({ status })
  assert.deepEqual(sync(set, { pods: pods(2, ready) }).effects, [])
})

test('missing pods are created under expectations before the status is written', () => {
  const driven = sync(owner)
  assert.equal(driven.created, 2)
  const [first] = driven.effects
  assert.ok(first?.effect === 'writes')
  assert.deepEqual(driven.status, { replicas: 0, terminatingReplicas: 0, observedGeneration: 1 })
})

test('Given the pod API fails, when creating many pods, then only the slow-start prefix is attempted', () => {
  const driven = sync(replicaSet({ replicas: 50 }), {
    drive: { onWrite: failCreates(refused(500, 'InternalError', 'broken')) },
  })
  assert.equal(driven.created, 1)
  assert.equal((driven.verdict.error as Error).message, 'broken')
})

test('Quota denial: the first batch has size 1, so one failing create per sync, not hundreds.', () => {
  let allowed = 3
  const onWrite = (write: Write): Outcome | undefined =>
    write.verb === 'create' && allowed-- <= 0
      ? refused(403, 'Forbidden', 'exceeded quota')
      : undefined
  const driven = sync(replicaSet({ replicas: 10 }), { drive: { onWrite } })
  assert.equal(driven.created, 7)
})

test('Given unobserved creations, when synced again, then no new pods are created; after observation it resumes', () => {
  const dormant = sync(owner, { expectationsMet: false })
  assert.equal(dormant.created, 0)
  assert.equal(dormant.statusWrites.length, 1)
  assert.equal(sync(owner).created, 2)
})

test('Given 30 missing pods and burst limit 5, when synced, then at most 5 are created per round, the next round waits for observation, and deletions respect the limit as well', () => {
  const settings = { burstReplicas: 5 }
  assert.equal(sync(replicaSet({ replicas: 30 }), { settings }).created, 5)
  const unobserved = { settings, expectationsMet: false }
  assert.equal(sync(replicaSet({ replicas: 30 }), unobserved).created, 0)
  assert.equal(
    sync(replicaSet({ replicas: 0 }), { settings, pods: pods(30, ready) }).deleted.length,
    5,
  )
})

test('Given a pod with another controller ref, when synced, then it is not patched', () => {
  const driven = sync(owner, { pods: [pod({ owner: replicaSet({ name: 'other' }) })] })
  assert.deepEqual(driven.patched, [])
  assert.equal(driven.created, 2)
})

test('Given the adoption patch fails, when synced, then an error is returned and the key is retried', () => {
  const driven = sync(owner, {
    pods: [pod()],
    drive: {
      onRead: () => ({ ok: true, object: owner }),
      onWrite: () => refused(422, 'Invalid', 'no'),
    },
  })
  assert.equal((driven.verdict.error as Error).message, 'no')
})

test('An adoption patch failure (422 or other) aborts the sync before any creation, so adoption races cannot over-create.', () => {
  const driven = sync(owner, {
    pods: [pod()],
    drive: { onRead: () => ({ ok: true, object: owner }), onWrite: () => refused(422, 'Invalid') },
  })
  assert.deepEqual(
    driven.writes.map(({ verb }) => verb),
    ['patch'],
  )
})

test('Given the ReplicaSet is being deleted (in cache, or only live), when orphans match, then no adoption and no creation happen', () => {
  const deleting = replicaSet({ metadata: { deletionTimestamp: secondsAgo(1) } })
  const inCache = sync(deleting, { pods: [pod()] })
  assert.deepEqual([inCache.created, inCache.patched], [0, []])
  const onlyLive = sync(owner, {
    pods: [pod()],
    drive: { onRead: () => ({ ok: true, object: deleting }) },
  })
  assert.deepEqual(onlyLive.writes, [])
  assert.ok(onlyLive.verdict.error instanceof Error)
})

test('A ReplicaSet with deletionTimestamp creates and deletes nothing, adopts nothing, but still refreshes status from pods it owns.', () => {
  const deleting = replicaSet({ replicas: 5, metadata: { deletionTimestamp: secondsAgo(1) } })
  const driven = sync(deleting, { pods: pods(3, ready) })
  assert.deepEqual([driven.created, driven.deleted], [0, []])
  assert.equal(driven.status?.replicas, 3)
  assert.equal(driven.status?.readyReplicas, 3)
})

test('Given status update conflicts, when retried once and still failing, then the error is returned', () => {
  const live = replicaSet({ metadata: { resourceVersion: '99', generation: 7 } })
  const driven = sync(owner, {
    pods: pods(2, ready),
    drive: {
      onRead: () => ({ ok: true, object: live }),
      onWrite: () => refused(409, 'Conflict', 'stale'),
    },
  })
  assert.equal(driven.statusWrites.length, 2)
  assert.equal((driven.verdict.error as Error).message, 'stale')
})

test('The 409 retry after a live GET must not adopt the newer generation as observedGeneration.', () => {
  const live = replicaSet({ metadata: { resourceVersion: '99', generation: 7 } })
  const driven = sync(owner, {
    pods: pods(2, ready),
    drive: {
      onRead: () => ({ ok: true, object: live }),
      onWrite: (_, index) => (index === 0 ? refused(409, 'Conflict') : undefined),
    },
  })
  assert.equal(driven.statusWrites[1]?.metadata?.resourceVersion, '99')
  assert.deepEqual(driven.statusWrites[1]?.status, driven.statusWrites[0]?.status)
  assert.equal(driven.status?.observedGeneration, 1)
  assert.equal(driven.verdict.error, undefined)
})

test('a live GET error after a failed status write is returned as it is', () => {
  const driven = sync(owner, {
    pods: pods(2, ready),
    drive: {
      onRead: () => refused(404, 'NotFound', 'gone'),
      onWrite: () => refused(409, 'Conflict'),
    },
  })
  assert.equal((driven.verdict.error as Error).message, 'gone')
})

test('after a refused status write a namesake of the owner is left alone', () => {
  const namesake = replicaSet({ metadata: { uid: 'later', resourceVersion: '99' } })
  const driven = sync(owner, {
    pods: pods(2, ready),
    drive: {
      onRead: () => ({ ok: true, object: namesake }),
      onWrite: () => refused(409, 'Conflict', 'stale'),
    },
  })
  assert.equal(driven.statusWrites.length, 1)
  assert.equal((driven.verdict.error as Error).message, 'stale')
})

test('Given minReadySeconds 5 and pods ready since 0 s, 2 s and 4.3 s, when synced, then readyReplicas 3, availableReplicas 0 and the key is requeued after about 700 ms', () => {
  const set = replicaSet({ replicas: 3, minReadySeconds: 5 })
  const waiting = [0, 2, 4].map((seconds, index) =>
    pod({ name: `p${index}`, owner, readySeconds: seconds }),
  )
  const driven = sync(set, { pods: waiting, drive: { nowMs: NOW_MS + 300 } })
  assert.equal(driven.status?.readyReplicas, 3)
  assert.equal(driven.status?.availableReplicas, undefined)
  assert.deepEqual(driven.verdict, { requeueAfterMs: 700 })
})

test('a pod that is ready since a time to come, by the clock of its node, is available when that and minReadySeconds are over', () => {
  const set = replicaSet({ replicas: 1, minReadySeconds: 5 })
  const driven = sync(set, { pods: [pod({ owner, readySeconds: -10 })] })
  assert.equal(driven.status?.readyReplicas, 1)
  assert.equal(driven.status?.availableReplicas, undefined)
  assert.deepEqual(driven.verdict, { requeueAfterMs: 15_000 })
})

test('without a pod that becomes available by time alone the key comes back after minReadySeconds', () => {
  const timeless = pod({ owner, readySeconds: 0 })
  const broken: Pod = {
    ...timeless,
    status: { ...timeless.status, conditions: [{ type: 'Ready', status: 'True' }] },
  }
  const driven = sync(replicaSet({ replicas: 1, minReadySeconds: 5 }), { pods: [broken] })
  assert.deepEqual(driven.verdict, { requeueAfterMs: 5000 })
})

test('nobody comes back where all that is ready is available, or minReadySeconds is gone meanwhile', () => {
  const set = replicaSet({ minReadySeconds: 5 })
  const available = pods(2, { owner: set, readySeconds: 9 })
  assert.deepEqual(sync(set, { pods: available }).verdict, {})
  const onWrite = (write: Write) =>
    write.verb === 'update'
      ? ({
          ok: true,
          object: { ...replicaSet(), status: (write.object as ReplicaSet).status },
        } as const)
      : undefined
  const fresh = pods(2, { owner: set, readySeconds: 1 })
  assert.deepEqual(sync(set, { pods: fresh, drive: { onWrite } }).verdict, {})
})

test('minReadySeconds requeue must not be lost when the same key was processed early: step 11 is the safety net.', () => {
  const status = {
    replicas: 1,
    fullyLabeledReplicas: 1,
    readyReplicas: 1,
    terminatingReplicas: 0,
    observedGeneration: 1,
  }
  const set = replicaSet({ replicas: 1, minReadySeconds: 5, status })
  const driven = sync(set, { pods: [pod({ owner, readySeconds: 1 })] })
  assert.equal(driven.statusWrites.length, 0)
  assert.deepEqual(driven.verdict, { requeueAfterMs: 4000 })
})

test('Given pods on doubled-up nodes, when scaling down, then pods with more co-located related pods go first', () => {
  const mine = [
    pod({ ...ready, name: 'alone', node: 'node-1' }),
    pod({ ...ready, name: 'crowded', node: 'node-2' }),
    pod({ ...ready, name: 'also-alone', node: 'node-3' }),
  ]
  const related = [
    ...mine,
    pod({ name: 'neighbour', node: 'node-2' }),
    pod({ name: 'done', node: 'node-1', phase: 'Succeeded' }),
  ]
  assert.deepEqual(sync(owner, { pods: mine, related }).deleted, ['crowded'])
})

test('Node name equality for ranks is plain string equality, including the empty string.', () => {
  const mine = [
    pod({ owner, name: 'pending-1', node: '', phase: 'Pending' }),
    pod({ owner, name: 'running', node: 'n' }),
    pod({ owner, name: 'pending-2', node: '', phase: 'Pending' }),
  ]
  assert.equal(
    sync(replicaSet({ replicas: 1 }), { pods: mine, related: mine }).deleted.includes('running'),
    false,
  )
})

test('Given deletion costs 1000 and 100, when scaling 2 → 1, then the pod with cost 1000 remains', () => {
  const cost = (value: string) => ({
    annotations: { 'controller.kubernetes.io/pod-deletion-cost': value },
  })
  const both = [
    pod({ ...ready, name: 'dear', ...cost('1000') }),
    pod({ ...ready, name: 'cheap', ...cost('100') }),
  ]
  assert.deepEqual(sync(replicaSet({ replicas: 1 }), { pods: both }).deleted, ['cheap'])
})

test('Given one pod Failed and one terminating, when synced, then replacements appear for both', () => {
  const driven = sync(owner, {
    pods: [pod({ owner, phase: 'Failed' }), pod({ name: 'going', owner, deleting: true })],
  })
  assert.equal(driven.created, 2)
  assert.deepEqual(driven.deleted, [])
  assert.deepEqual(driven.patched, [])
})

test('Succeeded and Failed pods are never counted, never adopted and never deleted by this controller; replacements are created next to them.', () => {
  const driven = sync(owner, {
    pods: [pod({ phase: 'Succeeded' }), pod({ name: 'f', phase: 'Failed' })],
  })
  assert.deepEqual([driven.created, driven.patched, driven.deleted], [2, [], []])
  assert.equal(driven.status?.replicas, 0)
})

test('Given gate on and a pod deleted with a long grace period, when synced, then terminatingReplicas is 1 and replicas is back at spec.replicas', () => {
  const driven = sync(owner, {
    pods: [...pods(2, ready), pod({ name: 'going', owner, deleting: true })],
  })
  assert.equal(driven.status?.terminatingReplicas, 1)
  assert.equal(driven.status?.replicas, 2)
})

test('terminating pods count only when this ReplicaSet controls them and its selector matches; with the gate off nobody counts', () => {
  const going = [
    pod({ name: 'orphan', deleting: true }),
    pod({ name: 'relabelled', owner, deleting: true, labels: { app: 'b' } }),
    pod({ name: 'done', owner, deleting: true, phase: 'Failed' }),
  ]
  assert.equal(sync(owner, { pods: going }).status?.terminatingReplicas, 0)
  assert.equal(
    sync(owner, { pods: going, settings: { terminatingReplicas: false } }).status
      ?.terminatingReplicas,
    undefined,
  )
})

test('Given an extra matching orphan, when adopted, then one pod is deleted to return to spec.replicas', () => {
  const driven = sync(owner, { pods: [...pods(2, ready), pod({ name: 'orphan' })] })
  assert.deepEqual(driven.patched, ['orphan'])
  assert.deepEqual(driven.deleted, ['orphan'])
})

test('Given a quota of 2 pods and 3 replicas, when synced, then ReplicaFailure appears; after scaling to 2 it disappears', () => {
  const denied = sync(replicaSet({ replicas: 3 }), {
    pods: pods(2, ready),
    drive: { onWrite: failCreates(refused(403, 'Forbidden', 'exceeded quota')) },
  })
  assert.deepEqual(denied.status?.conditions, [
    {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: secondsAgo(0),
      reason: 'FailedCreate',
      message: 'exceeded quota',
    },
  ])
  const scaled = sync(replicaSet({ status: { ...denied.status!, replicas: 2 } }), {
    pods: pods(2, ready),
  })
  assert.equal(scaled.status?.conditions, undefined)
  assert.equal(scaled.statusWrites.length, 1)
})

test('a failing deletion is ReplicaFailure with reason FailedDelete', () => {
  const driven = sync(replicaSet({ replicas: 1 }), {
    pods: pods(2, ready),
    drive: {
      onWrite: (write) =>
        write.verb === 'delete' ? refused(500, 'InternalError', 'broken') : undefined,
    },
  })
  const [condition] = driven.status?.conditions ?? []
  assert.equal(condition?.reason, 'FailedDelete')
  assert.equal(condition?.message, 'unable to delete pods: broken')
  assert.equal((driven.verdict.error as Error).message, 'unable to delete pods: broken')
})

test('a pod that is already gone is no error of a deletion', () => {
  const driven = sync(replicaSet({ replicas: 1 }), {
    pods: pods(2, ready),
    drive: { onWrite: (write) => (write.verb === 'delete' ? refused(404, 'NotFound') : undefined) },
  })
  assert.equal(driven.verdict.error, undefined)
  assert.equal(driven.status?.conditions, undefined)
})

test('The ReplicaFailure message is the first error only and is not refreshed while the failure persists.', () => {
  const conditions = [
    {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: 'old',
      lastTransitionTime: secondsAgo(99),
    },
  ]
  const set = replicaSet({
    replicas: 3,
    status: { replicas: 0, terminatingReplicas: 0, observedGeneration: 1, conditions },
  })
  const driven = sync(set, { drive: { onWrite: failCreates(refused(403, 'Forbidden', 'new')) } })
  assert.equal(driven.statusWrites.length, 0)
  assert.equal((driven.verdict.error as Error).message, 'new')
})

test('When needsSync was false there is no manage error, so an existing condition is removed.', () => {
  const conditions = [
    {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: 'old',
      lastTransitionTime: secondsAgo(99),
    },
  ]
  const driven = sync(replicaSet({ status: { replicas: 0, conditions } }), {
    expectationsMet: false,
  })
  assert.equal(driven.status?.conditions, undefined)
})

test('a status write error hides the manage error', () => {
  const driven = sync(owner, {
    drive: {
      onRead: () => refused(500, 'InternalError', 'read failed'),
      onWrite: (write) =>
        write.verb === 'create' ? refused(403, 'Forbidden', 'denied') : refused(409, 'Conflict'),
    },
  })
  assert.equal((driven.verdict.error as Error).message, 'read failed')
})

test('a create error with the NamespaceTerminating cause counts as success', () => {
  const driven = sync(owner, {
    drive: { onWrite: failCreates(refused(403, 'Forbidden', 'going', 'NamespaceTerminating')) },
  })
  assert.equal(driven.verdict.error, undefined)
  assert.equal(driven.status?.conditions, undefined)
  assert.deepEqual(driven.events, [])
})

test('an owner whose pods the ending namespace refuses is reported; its status is still written', () => {
  const found: string[] = []
  const settings = { onNamespaceTerminating: (of: KubernetesObject) => void found.push(keyOf(of)) }
  const driven = sync(owner, {
    settings,
    drive: { onWrite: failCreates(refused(403, 'Forbidden', 'going', 'NamespaceTerminating')) },
  })
  assert.deepEqual(found, ['ns/rs'])
  assert.equal(driven.statusWrites.length, 1)
  sync(owner, { settings, drive: { onWrite: failCreates(refused(403, 'Forbidden', 'no')) } })
  assert.deepEqual(found, ['ns/rs'])
  const going = refused(403, 'Forbidden', 'going', 'NamespaceTerminating')
  const onWrite = (_: Write, index: number) => (index === 1 ? going : undefined)
  sync(owner, { settings, drive: { onWrite } })
  assert.deepEqual(found, ['ns/rs', 'ns/rs'])
})

test('while the owner rests nothing is done but to come back', () => {
  const driven = sync(owner, { restMs: 400, pods: [pod(ready), pod({ ...ready, name: 'b' })] })
  assert.deepEqual(driven.verdict, { requeueAfterMs: 400 })
  assert.deepEqual(driven.writes, [])
})

test('Given label change on an adopted pod, when synced, then it is released and replaced', () => {
  const driven = sync(owner, {
    pods: [pod(ready), pod({ ...ready, name: 'moved', labels: { app: 'b' } })],
  })
  assert.deepEqual(driven.patched, ['moved'])
  assert.equal(driven.created, 1)
})

test('fullyLabeledReplicas uses the template labels, not the selector.', () => {
  const template = { metadata: { labels: { app: 'a', extra: 'x' } }, spec: { containers: [] } }
  const driven = sync(replicaSet({ template }), {
    pods: [pod(ready), pod({ ...ready, name: 'full', labels: { app: 'a', extra: 'x' } })],
  })
  assert.equal(driven.status?.fullyLabeledReplicas, 1)
  assert.equal(driven.status?.replicas, 2)
})

test('spec.replicas 0 deletes all pods without sorting.', () => {
  const sorted: unknown[] = []
  const driven = sync(replicaSet({ replicas: 0 }), {
    pods: pods(3, ready),
    settings: { onSortedDeletion: (...chosen) => sorted.push(chosen) },
  })
  assert.deepEqual(driven.deleted, ['pod-0', 'pod-1', 'pod-2'])
  assert.deepEqual(sorted, [])
})

test('a sorted deletion reports what was chosen', () => {
  const chosen: (readonly Pod[])[] = []
  sync(replicaSet({ replicas: 1 }), {
    pods: pods(3, ready),
    settings: { onSortedDeletion: (_, pods) => chosen.push(pods) },
  })
  assert.equal(chosen[0]?.length, 2)
})

test('an invalid selector is logged and nothing is done or retried', () => {
  const set = replicaSet()
  const invalid: ReplicaSet = {
    ...set,
    spec: { ...set.spec!, selector: { matchExpressions: [{ key: 'a', operator: 'Nonsense' }] } },
  }
  const logged: unknown[] = []
  const driven = sync(invalid, {
    settings: { onInvalidSelector: (_, error) => logged.push(error) },
  })
  assert.deepEqual([driven.effects, driven.verdict, logged.length], [[], {}, 1])
})

test('Only the status subresource is written; spec and metadata of the ReplicaSet are never modified here.', () => {
  const driven = sync(owner, { pods: pods(1, ready) })
  for (const { metadata, spec } of driven.statusWrites)
    assert.deepEqual([metadata, spec], [owner.metadata, owner.spec])
  assert.ok(
    driven.writes.every((write) => write.verb !== 'update' || write.subresource === 'status'),
  )
})

test('events are recorded for creations and deletions', () => {
  assert.deepEqual(sync(replicaSet({ replicas: 0 }), { pods: [pod(ready)] }).events, [
    { type: 'Normal', reason: 'SuccessfulDelete', message: 'Deleted pod: pod' },
  ])
})
