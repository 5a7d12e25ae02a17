import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { ReplicaSet } from '@gyropilot/api'
import { fakeInformers } from '@gyropilot/runtime/testing'
import {
  NOW_MS,
  deployment,
  pod,
  recordedExpectations,
  replicaSet,
} from '../workload-support/fixtures.ts'
import {
  CONTROLLER_UID_INDEX,
  POD_CONTROLLER_INDEX,
  addControllerIndex,
  controllerUidIndexValues,
} from '../workload-support/ownership.ts'
import { addPodLabelIndex } from '../workload-support/pod-label-index.ts'
import { deletionAgeRatios } from './metrics.ts'
import { observe } from './observe.ts'

const controlled = (name: string, labels: Record<string, string>): ReplicaSet =>
  replicaSet({
    name,
    labels,
    metadata: { ownerReferences: [newControllerRef(deployment(), resources.deployments)] },
  })

function listers(objects: Parameters<typeof fakeInformers>[0]) {
  const informers = fakeInformers(objects)
  const replicaSets = informers.informer(resources.replicasets)
  const pods = informers.informer(resources.pods)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  addPodLabelIndex(pods)
  replicaSets.addIndex(CONTROLLER_UID_INDEX, controllerUidIndexValues)
  return { replicaSets: replicaSets.lister, pods: pods.lister }
}

test('a ReplicaSet that is gone is not observed', () => {
  assert.equal(observe('ns/rs', listers([]), recordedExpectations()), undefined)
})

test('pods of any phase that the ReplicaSet controls, and orphans of its namespace, are observed', () => {
  const owner = replicaSet()
  const mine = pod({ name: 'mine', owner, phase: 'Failed' })
  const orphan = pod({ name: 'orphan', labels: { app: 'other' } })
  const theirs = pod({ name: 'theirs', owner: replicaSet({ name: 'other' }) })
  const observed = observe('ns/rs', listers([owner, mine, orphan, theirs]), recordedExpectations())
  assert.deepEqual(observed?.pods, [mine, orphan])
  assert.equal(observed?.expectationsMet, true)
})

test('related pods are those that any ReplicaSet of the same controller selects, each once, whoever owns them', () => {
  const one = controlled('one', { app: 'a' })
  const two = controlled('two', { app: 'a', extra: 'x' })
  const shared = pod({ name: 'shared', labels: { app: 'a', extra: 'x' } })
  const single = pod({ name: 'single' })
  const foreign = pod({ name: 'foreign', labels: { app: 'z' } })
  const observed = observe(
    'ns/one',
    listers([one, two, shared, single, foreign]),
    recordedExpectations(),
  )
  assert.deepEqual(observed?.relatedPods(), [shared, single])
})

test('A ReplicaSet without controller has no related pods, so all ranks are 0', () => {
  const observed = observe('ns/rs', listers([replicaSet(), pod()]), recordedExpectations())
  assert.deepEqual(observed?.relatedPods(), [])
})

test('a sibling with an invalid selector means no related pods', () => {
  const broken = controlled('broken', {})
  const invalid: ReplicaSet = {
    ...broken,
    spec: { ...broken.spec!, selector: { matchExpressions: [{ key: 'a', operator: 'Nonsense' }] } },
  }
  const observed = observe(
    'ns/one',
    listers([controlled('one', { app: 'a' }), invalid, pod()]),
    recordedExpectations(),
  )
  assert.deepEqual(observed?.relatedPods(), [])
})

test('the age ratio is per deleted ready pod: its age by that of the youngest ready pod, as integers', () => {
  const all = [
    pod({ ageSeconds: 100, readySeconds: 1 }),
    pod({ ageSeconds: 250, readySeconds: 1 }),
    pod({ ageSeconds: 10 }),
  ]
  assert.deepEqual(deletionAgeRatios(all, all, NOW_MS), [1, 2])
  assert.deepEqual(deletionAgeRatios([pod({ ageSeconds: 0, readySeconds: 0 })], all, NOW_MS), [])
  assert.deepEqual(deletionAgeRatios([pod()], [pod()], NOW_MS), [])
})
