import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ControllerRevision, DaemonSet, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { recordedExpectations } from '../workload-support/fixtures.ts'
import { daemonPod, daemonSet, revision } from './fixtures.ts'
import type { DaemonPodOptions } from './fixtures.ts'
import { daemonSetWatch, podWatch, revisionWatch } from './watches.ts'

const first = daemonSet()
const second = daemonSet({ name: 'second' })
const other: DaemonSet = {
  ...daemonSet({ name: 'other' }),
  spec: { ...second.spec!, selector: { matchLabels: { app: 'b' } } },
}

function watchingPods(...daemonSets: readonly DaemonSet[]) {
  const expectations = recordedExpectations()
  const { lister } = fakeInformers(daemonSets).informer(resources.daemonsets)
  const watch = podWatch(lister, expectations)
  return {
    expectations,
    added: (pod: Pod) => [...watch.onAdd!(pod)],
    updated: (before: DaemonPodOptions, after: DaemonPodOptions) => [
      ...watch.onUpdate!(
        daemonPod('n', before),
        daemonPod('n', { ...after, resourceVersion: '21' }),
      ),
    ],
    deleted: (pod: Pod | DeletedFinalStateUnknown<Pod>) => [...watch.onDelete!(pod)],
    watch,
  }
}

test('a DaemonSet is queued for every add, update and delete', () => {
  const expectations = recordedExpectations()
  const watch = daemonSetWatch(expectations)
  assert.deepEqual([...watch.onAdd!(first)], ['ns/ds'])
  assert.deepEqual([...watch.onUpdate!(first, first)], ['ns/ds'])
  assert.deepEqual(expectations.deleted, [])
  assert.deepEqual([...watch.onDelete!(first)], ['ns/ds'])
  const tombstone = new DeletedFinalStateUnknown<DaemonSet>('ns/gone', undefined)
  assert.deepEqual([...watch.onDelete!(tombstone)], ['ns/gone'])
  assert.deepEqual([...watch.onUpdate!(first, daemonSet({ uid: 'new' }))], ['ns/ds'])
  assert.deepEqual(expectations.deleted, ['ns/ds', 'ns/gone', 'ns/ds'])
})

test('an owned pod that appears is an observed creation, an orphan is everybody’s who matches', () => {
  const { added, expectations } = watchingPods(first, second, other)
  assert.deepEqual(added(daemonPod('n', { owner: first })), ['ns/ds'])
  assert.deepEqual(expectations.creations, ['ns/ds'])
  assert.deepEqual(added(daemonPod('n', { owner: null })).toSorted(), ['ns/ds', 'ns/second'])
  assert.deepEqual(added(daemonPod('n', { owner: daemonSet({ uid: 'before' }) })), [])
  assert.deepEqual(expectations.creations, ['ns/ds'])
})

test('a pod that appears on its way out is an observed deletion', () => {
  const { added, expectations } = watchingPods(first)
  assert.deepEqual(added(daemonPod('n', { deleting: true })), ['ns/ds'])
  assert.deepEqual(added(daemonPod('n', { deleting: true, owner: null })), [])
  assert.deepEqual([expectations.creations, expectations.deletions], [[], ['ns/ds ns/on-n']])
})

test('a pod that is seen terminating is an observed deletion, and nothing else', () => {
  const { updated, expectations } = watchingPods(first, second)
  assert.deepEqual(updated({}, { deleting: true }), ['ns/ds'])
  assert.deepEqual(updated({ owner: second }, { deleting: true }), ['ns/ds'])
  assert.deepEqual(expectations.deletions, ['ns/ds ns/on-n', 'ns/ds ns/on-n'])
})

test('an update with the same resourceVersion is ignored', () => {
  const { watch } = watchingPods(first)
  assert.deepEqual([...watch.onUpdate!(daemonPod('n'), daemonPod('n', { deleting: true }))], [])
})

test('an owned pod queues its owner, and its former one', () => {
  const { updated } = watchingPods(first, second)
  assert.deepEqual(updated({}, {}), ['ns/ds'])
  assert.deepEqual(updated({ owner: second }, {}), ['ns/second', 'ns/ds'])
})

test('an orphan queues those that match when its labels or its owner changed', () => {
  const { updated } = watchingPods(first, second, other)
  assert.deepEqual(updated({ owner: null }, { owner: null }), [])
  assert.deepEqual(updated({ owner: null }, { owner: null, labels: { app: 'b' } }), ['ns/other'])
  assert.deepEqual(updated({ owner: other }, { owner: null, labels: { app: 'b' } }), [
    'ns/other',
    'ns/other',
  ])
})

test('a pod that becomes ready queues its owner again a second after minReadySeconds', () => {
  const waiting = daemonSet({ minReadySeconds: 7 })
  const later = { key: 'ns/ds', afterMs: 8_000 }
  const { updated } = watchingPods(waiting)
  assert.deepEqual(updated({}, { readySeconds: 0 }), ['ns/ds', later])
  assert.deepEqual(updated({ readySeconds: 0 }, { readySeconds: 0 }), ['ns/ds'])
  assert.deepEqual(updated({}, {}), ['ns/ds'])
  assert.deepEqual(watchingPods(first).updated({}, { readySeconds: 0 }), ['ns/ds'])
  assert.deepEqual(watchingPods().updated({}, { readySeconds: 0 }), [])
})

test('a deleted pod is observed; an orphan and an unknown one concern nobody', () => {
  const { deleted, expectations } = watchingPods(first)
  assert.deepEqual(deleted(daemonPod('n')), ['ns/ds'])
  assert.deepEqual(deleted(daemonPod('n', { owner: null })), [])
  assert.deepEqual(deleted(new DeletedFinalStateUnknown<Pod>('ns/on-n', undefined)), [])
  assert.deepEqual(expectations.deletions, ['ns/ds ns/on-n'])
})

const { lister } = fakeInformers([first, second, other]).informer(resources.daemonsets)
const revisions = revisionWatch(lister)
const owned = revision()

function orphan(app: string, resourceVersion = '30'): ControllerRevision {
  return revision({ owner: undefined as never, labels: { app }, resourceVersion })
}

function terminating(object: ControllerRevision): ControllerRevision {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
}

test('a revision that appears concerns those that may adopt it, and nobody when it is owned', () => {
  assert.deepEqual([...revisions.onAdd!(owned)], [])
  assert.deepEqual([...revisions.onAdd!(orphan('a'))].toSorted(), ['ns/ds', 'ns/second'])
  assert.deepEqual([...revisions.onAdd!(terminating(owned))], ['ns/ds'])
  assert.deepEqual([...revisions.onAdd!(terminating(orphan('a')))], [])
})

test('a changed revision queues its owner, its former one, or those that may adopt it', () => {
  const changed = revision({ resourceVersion: '31' })
  assert.deepEqual([...revisions.onUpdate!(owned, owned)], [])
  assert.deepEqual([...revisions.onUpdate!(owned, changed)], ['ns/ds'])
  assert.deepEqual([...revisions.onUpdate!(owned, orphan('b', '31'))], ['ns/ds', 'ns/other'])
  assert.deepEqual([...revisions.onUpdate!(orphan('a'), orphan('b', '31'))], ['ns/other'])
  assert.deepEqual([...revisions.onUpdate!(orphan('a'), orphan('a', '31'))], [])
})

test('a deleted revision queues its owner', () => {
  assert.deepEqual([...revisions.onDelete!(owned)], ['ns/ds'])
  assert.deepEqual([...revisions.onDelete!(orphan('a'))], [])
  const unknown = new DeletedFinalStateUnknown<ControllerRevision>('ns/r', undefined)
  assert.deepEqual([...revisions.onDelete!(unknown)], [])
})
