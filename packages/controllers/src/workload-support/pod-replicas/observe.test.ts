import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { pod, recordedExpectations, replicaSet } from '../fixtures.ts'
import { POD_CONTROLLER_INDEX, addControllerIndex } from '../ownership.ts'
import { REPLICA_SETS } from './fixtures.ts'
import { observe } from './observe.ts'

function listers(objects: Parameters<typeof fakeInformers>[0]) {
  const informers = fakeInformers(objects)
  const pods = informers.informer(resources.pods)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  return { owners: informers.informer(resources.replicasets).lister, pods: pods.lister }
}

test('an owner that is gone is not observed', () => {
  assert.equal(observe('ns/rs', REPLICA_SETS, listers([]), recordedExpectations()), undefined)
})

test('pods of any phase that the owner controls, and orphans of its namespace, are observed', () => {
  const owner = replicaSet()
  const mine = pod({ name: 'mine', owner, phase: 'Failed' })
  const orphan = pod({ name: 'orphan', labels: { app: 'other' } })
  const theirs = pod({ name: 'theirs', owner: replicaSet({ name: 'other' }) })
  const observed = observe(
    'ns/rs',
    REPLICA_SETS,
    listers([owner, mine, orphan, theirs]),
    recordedExpectations(),
  )
  assert.deepEqual(observed?.pods, [mine, orphan])
  assert.equal(observed?.expectationsMet, true)
})

test('a kind says which pods are related; of one that says nothing none are', () => {
  const owner = replicaSet()
  const kind = { ...REPLICA_SETS, relatedPods: () => [pod()] }
  const related = (of: typeof REPLICA_SETS) =>
    observe('ns/rs', of, listers([owner]), recordedExpectations())?.relatedPods()
  assert.deepEqual([related(kind)?.length, related(REPLICA_SETS)], [1, []])
})
