import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod, StatefulSet } from '@gyropilot/api'
import type { Outcome, Reconcile, Write } from '@gyropilot/runtime'
import { isConflict, isForbidden } from '@gyropilot/client'
import { drive } from '@gyropilot/runtime/testing'
import { TEMPLATE, refused } from '../workload-support/fixtures.ts'
import { CLAIMS, DELETING, claim, observed, retention, setPod, statefulSet } from './fixtures.ts'
import { newPod } from './pod-identity.ts'
import {
  createMissingClaims,
  createPod,
  deletePod,
  fixClaimOwners,
  updatePod,
} from './pod-writes.ts'
import type { Caches, PodOutcome } from './pod-writes.ts'

const plain = statefulSet()
const claiming = statefulSet({ spec: CLAIMS })
const deleting = statefulSet({ spec: retention('Delete', 'Delete') })

const what = (write: Write): string =>
  `${write.verb} ${write.type.resource} ${'object' in write ? write.object.metadata?.name : 'name' in write ? write.name : ''}`

interface Given {
  readonly claims?: readonly PersistentVolumeClaim[]
  readonly pods?: readonly Pod[]
  readonly caches?: Partial<Caches>
  readonly onWrite?: (write: Write, index: number) => Outcome | undefined
}

type Rule = (set: StatefulSet, pod: Pod, caches: Caches) => Reconcile<PodOutcome>

function run(rule: Rule, set: StatefulSet, pod: Pod, given: Given = {}) {
  const caches = { ...observed(set, given), ...given.caches }
  const driven = drive(rule(set, pod, caches), given.onWrite ? { onWrite: given.onWrite } : {})
  return {
    ...driven,
    did: driven.writes.map(what),
    said: driven.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
  }
}

const unborn = (set: StatefulSet): Pod => newPod(set, 1, TEMPLATE, 'db-r')

test('a pod is created, with an event', () => {
  const { did, said, result } = run(createPod, plain, unborn(plain))
  assert.deepEqual(did, ['create pods db-1'])
  assert.deepEqual(said, ['Normal SuccessfulCreate: Create Pod db-1 in StatefulSet db successful'])
  assert.equal(result.created?.metadata?.name, 'db-1')
})

test('claims are created before the pod, each with its event', () => {
  const { did, said } = run(createPod, claiming, unborn(claiming))
  assert.deepEqual(did, ['create persistentvolumeclaims data-db-1', 'create pods db-1'])
  assert.deepEqual(said, [
    'Normal SuccessfulCreate: Create Claim data-db-1 Pod db-1 in StatefulSet db success',
    'Normal SuccessfulCreate: Create Pod db-1 in StatefulSet db successful',
  ])
})

test('a claim that is there is used as it is', () => {
  assert.deepEqual(
    run(createPod, claiming, unborn(claiming), { claims: [claim(claiming, 1)] }).did,
    ['create pods db-1'],
  )
})

test('A terminating PVC blocks pod creation with an error', () => {
  const { did, said, result } = run(createPod, claiming, unborn(claiming), {
    claims: [claim(claiming, 1, DELETING)],
  })
  assert.deepEqual(did, [])
  assert.match(String(result.error), /pvc data-db-1 is being deleted/)
  assert.deepEqual(said, [
    'Warning FailedCreate: Create Pod db-1 in StatefulSet db failed error: pvc data-db-1 is being deleted',
  ])
})

test('a claim that is refused keeps the pod from being created, the other claims are still tried', () => {
  const [data] = CLAIMS.volumeClaimTemplates!
  const logs = { ...data, metadata: { name: 'logs' } }
  const two = statefulSet({ spec: { volumeClaimTemplates: [data!, logs] } })
  const { did, said, result } = run(createPod, two, unborn(two), {
    onWrite: (_, index) => (index === 0 ? refused(403, 'Forbidden', 'quota') : undefined),
  })
  assert.deepEqual(did, [
    'create persistentvolumeclaims data-db-1',
    'create persistentvolumeclaims logs-db-1',
  ])
  assert.deepEqual(said, [
    'Warning FailedCreate: Create Claim data-db-1 for Pod db-1 in StatefulSet db failed error: quota',
    'Normal SuccessfulCreate: Create Claim logs-db-1 Pod db-1 in StatefulSet db success',
    'Warning FailedCreate: Create Pod db-1 in StatefulSet db failed error: failed to create PVC data-db-1: quota',
  ])
  assert.match(String(result.error), /quota/)
  assert.ok(isForbidden((result.error as Error).cause), 'what the server said goes along')
})

test('a claim that the cache does not show yet is an error without an event of its own', () => {
  const { did, said, result } = run(createPod, claiming, unborn(claiming), {
    onWrite: () => refused(409, 'AlreadyExists', 'exists'),
  })
  assert.equal(did.length, 1)
  assert.deepEqual(said.length, 1)
  assert.match(said[0]!, /^Warning FailedCreate: Create Pod db-1/)
  assert.match(String(result.error), /exists/)
})

test('a pod of the name that is there already is an error without an event', () => {
  const { said, result, did } = run(createPod, deleting, unborn(deleting), {
    claims: [claim(deleting, 1)],
    onWrite: () => refused(409, 'AlreadyExists', 'exists'),
  })
  assert.deepEqual([did, said], [['create pods db-1'], []])
  assert.match(String(result.error), /exists/)
})

test('owner references of the claims follow the creation, also when the pod was refused', () => {
  const given = { claims: [claim(deleting, 1)] }
  const made = run(createPod, deleting, unborn(deleting), given)
  assert.deepEqual(made.did, ['create pods db-1', 'update persistentvolumeclaims data-db-1'])
  const no = run(createPod, deleting, unborn(deleting), {
    ...given,
    onWrite: (_, index) => (index === 0 ? refused(403, 'Forbidden', 'quota') : undefined),
  })
  assert.deepEqual(no.did, made.did)
  assert.deepEqual(no.said, [
    'Warning FailedCreate: Create Pod db-1 in StatefulSet db failed error: quota',
  ])
  assert.equal(no.result.created, undefined)
})

test('a claim whose references cannot be written: the event is about an update, and the pod is there', () => {
  const { said, result } = run(createPod, deleting, unborn(deleting), {
    claims: [claim(deleting, 1)],
    onWrite: (_, index) => (index === 1 ? refused(409, 'Conflict', 'changed') : undefined),
  })
  assert.deepEqual(said, [
    'Warning FailedUpdate: Update Pod db-1 in StatefulSet db failed error: could not update claim data-db-1 for delete policy ownerRefs: changed',
  ])
  assert.ok(isConflict((result.error as Error).cause), 'what the server said goes along')
  assert.equal(result.created?.metadata?.name, 'db-1')
})

test('missing claims of a pending pod are made, and references mended', () => {
  const pod = setPod(deleting, 1, { phase: 'Pending' })
  assert.deepEqual(run(createMissingClaims, deleting, pod).did, [
    'create persistentvolumeclaims data-db-1',
  ])
  assert.deepEqual(run(createMissingClaims, deleting, pod, { claims: [claim(deleting, 1)] }).did, [
    'update persistentvolumeclaims data-db-1',
  ])
  const failing = run(createMissingClaims, deleting, pod, {
    claims: [claim(deleting, 1, DELETING)],
  })
  assert.deepEqual([failing.did, failing.said], [[], []])
  assert.ok(failing.result.error)
})

test('references that cannot be mended of a pending pod are told of', () => {
  const pod = setPod(deleting, 1, { phase: 'Pending' })
  const { said, result } = run(createMissingClaims, deleting, pod, {
    claims: [claim(deleting, 1)],
    onWrite: () => refused(403, 'Forbidden', 'not today'),
  })
  assert.deepEqual(said, [
    'Warning FailedUpdate: Update Pod db-1 in StatefulSet db failed error: could not update claim data-db-1 for delete policy ownerRefs: not today',
  ])
  assert.ok(result.error)
})

test('a claim with another controller is left alone, with an event', () => {
  const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c-uid', controller: true }
  const claims = [claim(deleting, 1, { ownerReferences: [other] })]
  const { did, said } = run(fixClaimOwners, deleting, setPod(deleting, 1), { claims })
  assert.deepEqual(did, [])
  assert.deepEqual(said, [
    'Warning ConflictingController: PersistentVolumeClaim data-db-1 has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim',
  ])
})

test('the references that are written are those of the policy', () => {
  const { writes } = run(fixClaimOwners, deleting, setPod(deleting, 5), {
    claims: [claim(deleting, 5)],
  })
  const [put] = writes
  assert.ok(put?.verb === 'update')
  assert.deepEqual(put.object.metadata?.ownerReferences, [
    newControllerRef(setPod(deleting, 5), resources.pods),
  ])
})

const unlabelled: Pod = {
  ...setPod(plain, 1),
  metadata: { ...setPod(plain, 1).metadata, labels: { app: 'a' } },
}
const newer = (pod: Pod, version: number, metadata = {}): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, resourceVersion: String(version), ...metadata },
})

test('labels are put back with one PUT and an event', () => {
  const { writes, said } = run(updatePod, plain, unlabelled)
  const [put] = writes
  assert.ok(put?.verb === 'update')
  assert.equal(put.object.metadata?.labels?.['statefulset.kubernetes.io/pod-name'], 'db-1')
  assert.deepEqual(said, ['Normal SuccessfulUpdate: Update Pod db-1 in StatefulSet db successful'])
})

test('a pod that is as it should be is not written', () => {
  assert.equal(run(updatePod, plain, setPod(plain, 1)).effects.length, 0)
})

test('missing volumes come with their claims', () => {
  const bare = { ...setPod(claiming, 1), spec: { containers: [] } }
  const { did, writes } = run(updatePod, claiming, bare)
  assert.deepEqual(did, ['create persistentvolumeclaims data-db-1', 'update pods db-1'])
  assert.deepEqual(writes[1]?.verb === 'update' && writes[1].object, {
    ...bare,
    spec: { ...bare.spec, volumes: setPod(claiming, 1).spec?.volumes },
  })
  const blocked = run(updatePod, claiming, bare, { claims: [claim(claiming, 1, DELETING)] })
  assert.deepEqual(blocked.did, [])
  assert.match(blocked.said.join(), /Warning FailedUpdate: Update Pod db-1 .* is being deleted/)
  assert.ok(blocked.result.error)
})

test('a pod that has its volumes is mended without new claims', () => {
  const { metadata, ...rest } = setPod(claiming, 1)
  const { did } = run(updatePod, claiming, { ...rest, metadata: { ...metadata, labels: {} } })
  assert.deepEqual(did, ['update pods db-1'])
})

test('where only a claim was wrong the pod is put as it is', () => {
  const pod = setPod(deleting, 1)
  const { did, writes, said } = run(updatePod, deleting, pod, { claims: [claim(deleting, 1)] })
  assert.deepEqual(did, ['update persistentvolumeclaims data-db-1', 'update pods db-1'])
  assert.deepEqual(writes[1]?.verb === 'update' && writes[1].object, pod)
  assert.equal(said.length, 1)
  const failing = run(updatePod, deleting, pod, {
    claims: [claim(deleting, 1)],
    onWrite: () => refused(409, 'Conflict', 'changed'),
  })
  assert.deepEqual(failing.did, ['update persistentvolumeclaims data-db-1'])
  assert.match(failing.said.join(), /Warning FailedUpdate/)
})

const conflict = () => refused(409, 'Conflict', 'changed')

test('after a conflict the update goes on with what the cache has by then, four times in all', () => {
  let version = 30
  const caches = { pod: () => newer(unlabelled, (version += 1)) }
  const tried = run(updatePod, plain, unlabelled, { caches, onWrite: conflict })
  assert.equal(tried.did.length, 4)
  assert.deepEqual(tried.said, [
    'Warning FailedUpdate: Update Pod db-1 in StatefulSet db failed error: changed',
  ])
  assert.ok(tried.result.error)

  const second = run(updatePod, plain, unlabelled, {
    caches: { pod: () => newer(unlabelled, 31) },
    onWrite: (_, index) => (index === 0 ? conflict() : undefined),
  })
  assert.equal(second.did.length, 2)
  assert.deepEqual(
    second.writes.map((write) => 'object' in write && write.object.metadata?.resourceVersion),
    ['20', '31'],
  )
  assert.match(second.said.join(), /SuccessfulUpdate/)
  assert.equal(second.result.error, undefined)
})

test('a conflict ends the update where the cache has nothing newer, nothing at all, or another pod', () => {
  for (const known of [unlabelled, undefined, newer(unlabelled, 31, { uid: 'other' })]) {
    const { did, result } = run(updatePod, plain, unlabelled, {
      caches: { pod: () => known },
      onWrite: conflict,
    })
    assert.equal(did.length, 1)
    assert.ok(result.error)
  }
})

test('after a conflict a pod that somebody else has mended is left, and the event tells of success', () => {
  const { did, said, result } = run(updatePod, plain, unlabelled, {
    caches: { pod: () => newer(setPod(plain, 1), 31) },
    onWrite: conflict,
  })
  assert.equal(did.length, 1)
  assert.match(said.join(), /SuccessfulUpdate/)
  assert.equal(result.error, undefined)
})

test('another refusal than a conflict ends the update', () => {
  const { did, said } = run(updatePod, plain, unlabelled, {
    caches: { pod: () => newer(unlabelled, 31) },
    onWrite: () => refused(422, 'Invalid', 'no'),
  })
  assert.equal(did.length, 1)
  assert.deepEqual(said, [
    'Warning FailedUpdate: Update Pod db-1 in StatefulSet db failed error: no',
  ])
})

test('a pod is deleted by name and without preconditions; 404 counts as success', () => {
  const rule: Rule = (set, pod) => deletePod(set, pod)
  const { writes, said } = run(rule, plain, setPod(plain, 1))
  assert.deepEqual(writes, [
    { verb: 'delete', type: resources.pods, namespace: 'ns', name: 'db-1', options: undefined },
  ])
  assert.deepEqual(said, ['Normal SuccessfulDelete: Delete Pod db-1 in StatefulSet db successful'])
  const gone = run(rule, plain, setPod(plain, 1), { onWrite: () => refused(404, 'NotFound') })
  assert.deepEqual([gone.said, gone.result], [[], {}])
  const no = run(rule, plain, setPod(plain, 1), { onWrite: () => refused(500, 'Oops', 'oops') })
  assert.deepEqual(no.said, [
    'Warning FailedDelete: Delete Pod db-1 in StatefulSet db failed error: oops',
  ])
  assert.ok(no.result.error)
})
