import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod, ReplicaSet } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { pod, recordedExpectations, replicaSet } from '../fixtures.ts'
import { REPLICA_SETS } from './fixtures.ts'
import { ownerWatch, podWatch } from './watches.ts'

const first = replicaSet()
const second = replicaSet({ name: 'second', labels: { app: 'b' } })

function watching(...replicaSets: readonly ReplicaSet[]) {
  const expectations = recordedExpectations()
  const { lister } = fakeInformers(replicaSets).informer(resources.replicasets)
  const watch = podWatch(lister, REPLICA_SETS, expectations)
  return {
    expectations,
    added: (added: Pod) => [...watch.onAdd!(added)],
    updated: (previous: Pod, current: Pod) => [...watch.onUpdate!(previous, current)],
    deleted: (gone: Pod | DeletedFinalStateUnknown<Pod>) => [...watch.onDelete!(gone)],
  }
}

function changed(options: Parameters<typeof pod>[0]): Pod {
  return pod({ ...options, resourceVersion: '21' })
}

test('a ReplicaSet is queued for every add, update and delete', () => {
  const watch = ownerWatch(resources.replicasets, recordedExpectations())
  assert.deepEqual([...watch.onAdd!(first)], ['ns/rs'])
  assert.deepEqual([...watch.onUpdate!(first, first)], ['ns/rs'])
  assert.deepEqual([...watch.onDelete!(first)], ['ns/rs'])
  assert.deepEqual(
    [...watch.onDelete!(new DeletedFinalStateUnknown<ReplicaSet>('ns/rs', undefined))],
    ['ns/rs'],
  )
})

test('Given a ReplicaSet deleted and recreated under the same name, when synced, then old expectations do not block it', () => {
  const expectations = recordedExpectations()
  const watch = ownerWatch(resources.replicasets, expectations)
  watch.onUpdate!(first, replicaSet({ uid: 'new' }))
  watch.onDelete!(first)
  assert.deepEqual(expectations.deleted, ['ns/rs', 'ns/rs'])
  watch.onUpdate!(first, replicaSet({ replicas: 9 }))
  assert.equal(expectations.deleted.length, 2)
})

test('an owned pod that appears is an observed creation', () => {
  const { expectations, added } = watching(first)
  assert.deepEqual(added(pod({ owner: first })), ['ns/rs'])
  assert.deepEqual(expectations.creations, ['ns/rs'])
})

test("an orphan's creation is never counted as an observed creation; every ReplicaSet that matches is queued", () => {
  const { expectations, added } = watching(first, replicaSet({ name: 'twin' }), second)
  assert.deepEqual(added(pod()).toSorted(), ['ns/rs', 'ns/twin'])
  assert.deepEqual(expectations.creations, [])
})

test('A pod first seen with a deletionTimestamp must not be counted as an observed creation; handle it as a deletion.', () => {
  const { expectations, added } = watching(first)
  assert.deepEqual(added(pod({ owner: first, deleting: true })), ['ns/rs'])
  assert.deepEqual([expectations.creations, expectations.deletions], [[], ['ns/rs ns/pod']])
})

test('a pod of an owner that is not known queues nobody', () => {
  const { expectations, added, deleted } = watching()
  assert.deepEqual([added(pod({ owner: first })), deleted(pod({ owner: first }))], [[], []])
  assert.deepEqual([expectations.creations, expectations.deletions], [[], []])
})

test('an update with the same resourceVersion is ignored', () => {
  assert.deepEqual(watching(first).updated(pod({ owner: first }), pod({ owner: first })), [])
})

test('Given a pod turning terminating, when the update arrives, then the ReplicaSet is queued and the deletion is observed once', () => {
  const { expectations, updated } = watching(first)
  assert.deepEqual(updated(pod({ owner: first }), changed({ owner: first, deleting: true })), [
    'ns/rs',
  ])
  assert.deepEqual(expectations.deletions, ['ns/rs ns/pod'])
})

test('a terminating pod whose labels changed is a deletion for the old object too', () => {
  const { updated } = watching(first)
  const keys = updated(
    pod({ owner: first }),
    changed({ owner: first, deleting: true, labels: { app: 'b' } }),
  )
  assert.deepEqual(keys, ['ns/rs', 'ns/rs'])
})

test("Given labels of an owned pod move to another ReplicaSet's labels, when updated, then both are queued", () => {
  const { updated } = watching(first, second)
  assert.deepEqual(updated(pod({ owner: first }), changed({ labels: { app: 'b' } })), [
    'ns/rs',
    'ns/second',
  ])
  assert.deepEqual(
    updated(pod({ owner: first }), changed({ owner: second, labels: { app: 'b' } })),
    ['ns/rs', 'ns/second'],
  )
})

test('an owned pod that changed queues its owner, an orphan only when labels or controller changed', () => {
  const { updated } = watching(first)
  assert.deepEqual(updated(pod({ owner: first }), changed({ owner: first })), ['ns/rs'])
  assert.deepEqual(updated(pod(), changed({})), [])
  assert.deepEqual(updated(pod({ labels: { app: 'x' } }), changed({})), ['ns/rs'])
})

test('a pod that becomes ready queues its owner now and after minReadySeconds', () => {
  const owner = replicaSet({ minReadySeconds: 7 })
  const { updated } = watching(owner)
  const keys = updated(pod({ owner }), changed({ owner, readySeconds: 0 }))
  assert.deepEqual(keys, ['ns/rs', { key: 'ns/rs', afterMs: 7000 }])
  assert.deepEqual(
    watching(first).updated(pod({ owner: first }), changed({ owner: first, readySeconds: 0 })),
    ['ns/rs'],
  )
})

test('a deleted pod is observed under its key; an orphan and a tombstone without its object concern nobody', () => {
  const { expectations, deleted } = watching(first)
  assert.deepEqual(deleted(pod({ owner: first })), ['ns/rs'])
  assert.deepEqual(expectations.deletions, ['ns/rs ns/pod'])
  assert.deepEqual(deleted(pod()), [])
  assert.deepEqual(deleted(new DeletedFinalStateUnknown<Pod>('ns/pod', undefined)), [])
})
