import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { ReplicaSet } from '@gyropilot/api'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { deployment, pod, replicaSet } from '../workload-support/fixtures.ts'
import { CONTROLLER_UID_INDEX, controllerUidIndexValues } from '../workload-support/ownership.ts'
import { addPodLabelIndex } from '../workload-support/pod-label-index.ts'
import { relatedPods } from './related-pods.ts'

const controlled = (name: string, labels: Record<string, string>): ReplicaSet =>
  replicaSet({
    name,
    labels,
    metadata: { ownerReferences: [newControllerRef(deployment(), resources.deployments)] },
  })

function relatedTo(replicaSetOf: ReplicaSet, objects: Parameters<typeof fakeInformers>[0]) {
  const informers = fakeInformers(objects)
  const replicaSets = informers.informer(resources.replicasets)
  const pods = informers.informer(resources.pods)
  addPodLabelIndex(pods)
  replicaSets.addIndex(CONTROLLER_UID_INDEX, controllerUidIndexValues)
  return relatedPods(replicaSetOf, { replicaSets: replicaSets.lister, pods: pods.lister })
}

test('related pods are those that any ReplicaSet of the same controller selects, each once, whoever owns them', () => {
  const one = controlled('one', { app: 'a' })
  const two = controlled('two', { app: 'a', extra: 'x' })
  const shared = pod({ name: 'shared', labels: { app: 'a', extra: 'x' } })
  const single = pod({ name: 'single' })
  const foreign = pod({ name: 'foreign', labels: { app: 'z' } })
  assert.deepEqual(relatedTo(one, [one, two, shared, single, foreign]), [shared, single])
})

test('A ReplicaSet without controller has no related pods, so all ranks are 0', () => {
  assert.deepEqual(relatedTo(replicaSet(), [replicaSet(), pod()]), [])
})

test('a sibling with an invalid selector means no related pods', () => {
  const one = controlled('one', { app: 'a' })
  const broken = controlled('broken', {})
  const invalid: ReplicaSet = {
    ...broken,
    spec: { ...broken.spec!, selector: { matchExpressions: [{ key: 'a', operator: 'Nonsense' }] } },
  }
  assert.deepEqual(relatedTo(one, [one, invalid, pod()]), [])
})
