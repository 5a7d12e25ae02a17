import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Deployment, KubernetesObject, Pod, ReplicaSet } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { pod, replicaSet, secondsAgo } from '../workload-support/fixtures.ts'
import {
  POD_CONTROLLER_INDEX,
  REPLICA_SET_CONTROLLER_INDEX,
  addControllerIndex,
} from '../workload-support/ownership.ts'
import { deployment, owned } from './fixtures.ts'
import { observe } from './observe.ts'
import { deploymentWatch, podWatch, replicaSetWatch } from './watches.ts'

const web = deployment()

function listers(...objects: readonly KubernetesObject[]) {
  const informers = fakeInformers(objects)
  const deployments = informers.informer(resources.deployments)
  const replicaSets = informers.informer(resources.replicasets)
  const pods = informers.informer(resources.pods)
  addControllerIndex(replicaSets, REPLICA_SET_CONTROLLER_INDEX)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  return { deployments: deployments.lister, replicaSets: replicaSets.lister, pods: pods.lister }
}

const replicaSets = (...deployments: readonly Deployment[]) =>
  replicaSetWatch(listers(...deployments).deployments)
const changed = (set: ReplicaSet, metadata = {}): ReplicaSet => ({
  ...set,
  metadata: { ...set.metadata, resourceVersion: '11', ...metadata },
})

test('every event of a Deployment queues it', () => {
  assert.deepEqual([...deploymentWatch.onAdd!(web)], ['ns/web'])
  assert.deepEqual([...deploymentWatch.onUpdate!(web, web)], ['ns/web'])
  assert.deepEqual([...deploymentWatch.onDelete!(web)], ['ns/web'])
  assert.deepEqual(
    [...deploymentWatch.onDelete!(new DeletedFinalStateUnknown<Deployment>('ns/web', undefined))],
    ['ns/web'],
  )
})

test('an added RS queues its owner, or as an orphan every Deployment that selects it', () => {
  const twin = deployment({ name: 'twin' })
  const watch = replicaSets(web, twin, deployment({ name: 'other', labels: { app: 'z' } }))
  assert.deepEqual([...watch.onAdd!(owned(web, {}))], ['ns/web'])
  assert.deepEqual([...watch.onAdd!(replicaSet())].toSorted(), ['ns/twin', 'ns/web'])
})

test('an RS first seen with a deletionTimestamp is a deletion: orphans concern nobody', () => {
  const going = { deletionTimestamp: secondsAgo(1) }
  const watch = replicaSets(web)
  assert.deepEqual([...watch.onAdd!(changed(owned(web, {}), going))], ['ns/web'])
  assert.deepEqual([...watch.onAdd!(changed(replicaSet(), going))], [])
})

test('an owner of another uid or kind is not resolved', () => {
  const watch = replicaSets(deployment({ uid: 'new' }))
  assert.deepEqual([...watch.onAdd!(owned(web, {}))], [])
})

test('an updated RS queues its owner; a resync is ignored', () => {
  const watch = replicaSets(web)
  const set = owned(web, {})
  assert.deepEqual([...watch.onUpdate!(set, changed(set))], ['ns/web'])
  assert.deepEqual([...watch.onUpdate!(set, set)], [])
})

test('a changed controller queues the old owner too; an orphan with changed labels or controller all that match', () => {
  const other = deployment({ name: 'other' })
  const watch = replicaSets(web, other)
  const set = owned(web, { name: 'rs' })
  assert.deepEqual(
    [...watch.onUpdate!(set, changed(owned(other, { name: 'rs' })))],
    ['ns/web', 'ns/other'],
  )
  const orphan = replicaSet({ name: 'rs' })
  assert.deepEqual([...watch.onUpdate!(set, changed(orphan))].toSorted(), [
    'ns/other',
    'ns/web',
    'ns/web',
  ])
  assert.deepEqual([...watch.onUpdate!(orphan, changed(orphan))], [])
  assert.deepEqual(
    [...watch.onUpdate!(replicaSet({ labels: { app: 'x' } }), changed(orphan))].toSorted(),
    ['ns/other', 'ns/web'],
  )
})

test('a deleted RS queues its owner only', () => {
  const watch = replicaSets(web)
  assert.deepEqual([...watch.onDelete!(owned(web, {}))], ['ns/web'])
  assert.deepEqual([...watch.onDelete!(replicaSet())], [])
  assert.deepEqual(
    [...watch.onDelete!(new DeletedFinalStateUnknown<ReplicaSet>('ns/rs', undefined))],
    [],
  )
})

const recreating = deployment({ strategy: { type: 'Recreate' } })

test('Given all old pods gone, when the last is deleted, then a Recreate deployment is queued; otherwise not', () => {
  const set = owned(recreating, { name: 'rs' })
  const last = pod({ name: 'last', owner: set })
  assert.deepEqual([...podWatch(listers(recreating, set)).onDelete!(last)], ['ns/web'])
  const left = pod({ name: 'left', owner: set, phase: 'Succeeded' })
  assert.deepEqual([...podWatch(listers(recreating, set, left)).onDelete!(last)], [])
})

test('a pod of any other ReplicaSet of it keeps a Recreate deployment waiting', () => {
  const [emptied, running] = [
    owned(recreating, { name: 'emptied' }),
    owned(recreating, { name: 'running' }),
  ]
  const last = pod({ name: 'last', owner: emptied })
  const left = pod({ name: 'left', owner: running })
  const watch = podWatch(listers(recreating, emptied, running, left))
  assert.deepEqual([...watch.onDelete!(last)], [])
})

test('a pod whose last state nobody saw queues nobody', () => {
  const watch = podWatch(listers(recreating))
  const unseen = new DeletedFinalStateUnknown<Pod>('ns/last', undefined)
  assert.deepEqual([...watch.onDelete!(unseen)], [])
})

test('a deleted pod of a RollingUpdate, of nobody or of another kind queues nobody; pod add and update are not watched', () => {
  const set = owned(web, { name: 'rs' })
  const watch = podWatch(listers(web, set))
  assert.deepEqual([...watch.onDelete!(pod({ owner: set }))], [])
  assert.deepEqual([...watch.onDelete!(pod())], [])
  assert.deepEqual([watch.onAdd, watch.onUpdate], [undefined, undefined])
})

test('a Deployment is observed with its own ReplicaSets and the orphans of its namespace, and finds any by name', () => {
  const mine = owned(web, { name: 'mine' })
  const orphan = replicaSet({ name: 'orphan' })
  const theirs = owned(deployment({ name: 'other' }), { name: 'theirs' })
  const own = pod({ owner: mine })
  const observed = observe(
    'ns/web',
    listers(web, mine, orphan, theirs, own, pod({ name: 'orphan' })),
  )
  assert.deepEqual(observed?.replicaSets, [mine, orphan])
  assert.equal(observed?.cachedReplicaSet('theirs'), theirs)
  assert.deepEqual(observed?.podsOf(mine), [own])
  assert.equal(observe('ns/gone', listers()), undefined)
})
