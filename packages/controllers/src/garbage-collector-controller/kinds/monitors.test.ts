import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { resourceId } from '../../monitor-support/monitored-resources.ts'
import type { GraphEvent } from '../graph/dependency-graph.ts'
import { object } from '../fixtures.ts'
import { GraphMonitors } from './monitors.ts'

function monitorsOf(...types: ResourceType[]) {
  const informers = fakeInformers()
  const events: GraphEvent[] = []
  const monitors = new GraphMonitors(informers, (event) => void events.push(event))
  const update = (...wanted: ResourceType[]): void => {
    const set = new Map(wanted.map((type) => [resourceId(type), type]))
    monitors.update(set, AbortSignal.abort())
  }
  update(...types)
  const taken = (): string[] =>
    events.splice(0).map(({ kind, identity }) => `${kind} ${identity.kind} ${identity.uid}`)
  return { informers, monitors, update, taken }
}

/** As the metadata informers show them: the kind is that of the envelope. */
const partial = (name: string, uid = `${name}-uid`) => ({
  ...object(name, { uid }),
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
})

test('add, update, delete (tombstones unwrapped): one event object each, with the kind of the monitored resource', () => {
  const { informers, taken } = monitorsOf(resources.pods, resources.replicasets)
  informers.apply(resources.pods, partial('a'))
  informers.apply(resources.pods, partial('a'))
  informers.remove(resources.pods, partial('a'))
  const tombstone = new DeletedFinalStateUnknown('ns1/b', partial('b'))
  informers.remove(resources.replicasets, tombstone)
  informers.remove(resources.pods, new DeletedFinalStateUnknown('ns1/c', undefined))
  assert.deepEqual(taken(), [
    'add Pod a-uid',
    'update Pod a-uid',
    'delete Pod a-uid',
    'delete ReplicaSet b-uid',
  ])
})

test('an object that was made anew unseen is a deletion and an addition', () => {
  const { informers, taken } = monitorsOf(resources.pods)
  informers.apply(resources.pods, partial('a', 'one'))
  informers.apply(resources.pods, partial('a', 'two'))
  assert.deepEqual(taken(), ['add Pod one', 'delete Pod one', 'add Pod two'])
})

test('Event objects (core and events.k8s.io) are never put in the graph', () => {
  const core: ResourceType = resources.events
  const other = { ...core, group: 'events.k8s.io' }
  const { monitors, informers, taken } = monitorsOf(core, other, resources.pods)
  informers.apply(core, partial('a'))
  informers.apply(other, partial('a'))
  assert.deepEqual(taken(), [])
  assert.equal(monitors.isSynced(core), false)
  assert.equal(monitors.isSynced(resources.pods), true)
})

test('When a CRD is deleted its monitor stops, and what the watch tells late is an event still', () => {
  const { informers, monitors, update, taken } = monitorsOf(resources.pods, resources.replicasets)
  informers.apply(resources.replicasets, partial('b'))
  update(resources.pods)
  informers.remove(resources.replicasets, partial('b'))
  informers.apply(resources.pods, partial('a'))
  assert.deepEqual(taken(), ['add ReplicaSet b-uid', 'delete ReplicaSet b-uid', 'add Pod a-uid'])
  assert.equal(monitors.isSynced(resources.replicasets), false)
  assert.equal(monitors.cached(resources.replicasets, 'ns1', 'b'), undefined)
  assert.equal(monitors.cached(resources.pods, 'ns1', 'a')?.metadata?.uid, 'a-uid')
})

test('a monitor that cannot be added does not keep others from being added, and is tried again', () => {
  const informers = fakeInformers()
  const { informer } = informers
  let broken = true
  informers.informer = (type) => {
    if (broken && type.resource === 'replicasets') throw new Error('no')
    return informer(type)
  }
  const monitors = new GraphMonitors(informers, () => {})
  const wanted = new Map(
    [resources.replicasets, resources.pods].map((type: ResourceType) => [resourceId(type), type]),
  )
  assert.throws(() => monitors.update(wanted, AbortSignal.abort()), /no/)
  assert.equal(monitors.isSynced(resources.pods), true)
  broken = false
  monitors.update(wanted, AbortSignal.abort())
  assert.equal(monitors.isSynced(resources.replicasets), true)
})
