import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod, StatefulSet } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { pod } from '../workload-support/fixtures.ts'
import { setPod, statefulSet } from './fixtures.ts'
import { podWatch, statefulSetWatch } from './watches.ts'

const first = statefulSet()
const second = statefulSet({ name: 'web' })
const other = statefulSet({ name: 'other', spec: { selector: { matchLabels: { app: 'b' } } } })

function watching(...sets: readonly StatefulSet[]) {
  const watch = podWatch(fakeInformers(sets).informer(resources.statefulsets).lister)
  return {
    added: (added: Pod) => [...watch.onAdd!(added)],
    updated: (previous: Pod, current: Pod) => [...watch.onUpdate!(previous, current)],
    deleted: (gone: Pod | DeletedFinalStateUnknown<Pod>) => [...watch.onDelete!(gone)],
  }
}

const later = (changed: Pod): Pod => ({
  ...changed,
  metadata: { ...changed.metadata, resourceVersion: '21' },
})
const owned = setPod(first, 0)
const orphan = pod({ name: 'db-0' })

test('a StatefulSet is queued for every add, update and delete', () => {
  const watch = statefulSetWatch()
  assert.deepEqual([...watch.onAdd!(first)], ['ns/db'])
  assert.deepEqual([...watch.onUpdate!(second, first)], ['ns/db'])
  assert.deepEqual([...watch.onDelete!(first)], ['ns/db'])
  const unknown = new DeletedFinalStateUnknown<StatefulSet>('ns/db', undefined)
  assert.deepEqual([...watch.onDelete!(unknown)], ['ns/db'])
})

test('pod add: its owner, or for an orphan every set that matches', () => {
  const { added } = watching(first, second, other)
  assert.deepEqual(added(owned), ['ns/db'])
  assert.deepEqual(added(orphan).toSorted(), ['ns/db', 'ns/web'])
  assert.deepEqual(added(pod({ labels: {} })), [])
})

test('pod add with a deletionTimestamp: its owner only', () => {
  const { added } = watching(first, second)
  assert.deepEqual(added(setPod(first, 0, { deleting: true })), ['ns/db'])
  assert.deepEqual(added(pod({ name: 'db-0', deleting: true })), [])
})

test('an owner of another uid is none', () => {
  const { added, updated, deleted } = watching(statefulSet({ uid: 'new' }))
  assert.deepEqual([added(owned), updated(owned, later(owned)), deleted(owned)], [[], [], []])
})

test('pod update: a resync is ignored, otherwise the owner is queued', () => {
  const { updated } = watching(first)
  assert.deepEqual(updated(owned, owned), [])
  assert.deepEqual(updated(owned, later(owned)), ['ns/db'])
  assert.deepEqual(updated(owned, later(setPod(first, 0, { deleting: true }))), ['ns/db'])
})

test('pod update: a changed owner concerns both', () => {
  const { updated } = watching(first, second)
  assert.deepEqual(updated(owned, later(setPod(second, 0))), ['ns/db', 'ns/web'])
  assert.deepEqual(updated(owned, later(orphan)).toSorted(), ['ns/db', 'ns/db', 'ns/web'])
})

test('pod update: an orphan counts when its labels or its owner changed', () => {
  const { updated } = watching(first, other)
  assert.deepEqual(updated(orphan, later(orphan)), [])
  assert.deepEqual(updated(pod({ name: 'db-0', labels: { app: 'c' } }), later(orphan)), ['ns/db'])
})

test('a pod that becomes ready is looked at again after minReadySeconds', () => {
  const patient = statefulSet({ spec: { minReadySeconds: 30 } })
  const { updated } = watching(patient)
  const unready = setPod(patient, 0, { readySeconds: null })
  const ready = later(setPod(patient, 0))
  assert.deepEqual(updated(unready, ready), ['ns/db', { key: 'ns/db', afterMs: 30_000 }])
  const brief = watching(statefulSet({ spec: { minReadySeconds: 1 } }))
  assert.deepEqual(brief.updated(unready, ready), ['ns/db', { key: 'ns/db', afterMs: 1_000 }])
  assert.deepEqual(updated(setPod(patient, 0), ready), ['ns/db'])
  assert.deepEqual(updated(unready, later(unready)), ['ns/db'])
  assert.deepEqual(
    watching(first).updated(setPod(first, 0, { readySeconds: null }), later(owned)),
    ['ns/db'],
  )
})

test('pod delete: its owner, and nobody for an orphan or one whose last state is unknown', () => {
  const { deleted } = watching(first)
  assert.deepEqual(deleted(owned), ['ns/db'])
  assert.deepEqual(deleted(orphan), [])
  assert.deepEqual(deleted(new DeletedFinalStateUnknown<Pod>('ns/db-0', undefined)), [])
})
