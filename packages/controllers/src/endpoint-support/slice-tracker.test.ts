import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slice } from './fixtures.ts'
import { SliceTracker } from './slice-tracker.ts'
import { sliceWatch } from './slice-watch.ts'

const MANAGER = 'endpointslice-controller.k8s.io'

/** What the cache has come to is not known. */
const newTracker = (): SliceTracker => new SliceTracker(() => '')

function tracking(...written: Parameters<SliceTracker['written']>[0][]): SliceTracker {
  const tracker = newTracker()
  for (const each of written) tracker.written(each)
  return tracker
}

test('unknown slices, and known ones of a newer generation, are changes of others', () => {
  const tracker = tracking(slice({ generation: 2 }))
  assert.ok(!tracker.isForeignChange(slice({ generation: 1 })))
  assert.ok(!tracker.isForeignChange(slice({ generation: 2 })))
  assert.ok(tracker.isForeignChange(slice({ generation: 3 })))
  assert.ok(tracker.isForeignChange(slice({ name: 'other' })))
  assert.ok(tracker.isForeignChange(slice({ uid: 'recreated', generation: 2 })))
  assert.ok(newTracker().isForeignChange(slice()))
})

test('a deletion is foreign unless it was expected, and is told once', () => {
  const tracker = tracking(slice(), slice({ name: 'own' }))
  tracker.deleted(slice({ name: 'own' }))
  assert.ok(!tracker.isForeignDeletion(slice({ name: 'own' })))
  assert.ok(tracker.isForeignDeletion(slice()))
  assert.ok(!tracker.isForeignDeletion(slice()))
  assert.ok(!tracker.isForeignDeletion(slice({ name: 'never-seen' })))
})

test('stale: an older generation, one that was deleted, or one that is missing', () => {
  const known = slice({ generation: 2 })
  assert.ok(!tracking(known).isStale('ns/svc', [known]))
  assert.ok(!tracking(known).isStale('ns/svc', [slice({ generation: 3 })]))
  assert.ok(tracking(known).isStale('ns/svc', [slice({ generation: 1 })]))
  assert.ok(tracking(known).isStale('ns/svc', []))
  const tracker = tracking(known)
  tracker.deleted(known)
  assert.ok(tracker.isStale('ns/svc', [known]))
  assert.ok(!tracker.isStale('ns/svc', []))
  assert.ok(!tracker.isStale('ns/other', [known]))
})

test('a slice on its way out is there, but not listed: neither missing nor stale', () => {
  const known = slice({ generation: 2 })
  assert.ok(!tracking(known).isStale('ns/svc', [], [slice({ generation: 3, deleting: true })]))
})

test('a forgotten Service has no stale slices', () => {
  const tracker = tracking(slice())
  tracker.forget('ns/svc')
  assert.ok(!tracker.isStale('ns/svc', []))
})

function watching(tracker = newTracker()) {
  return sliceWatch({ manager: MANAGER, tracker, delayMs: 1_000 })
}
const later = (name: string): object => ({ key: `ns/${name}`, afterMs: 1_000 })

test('Given a slice event for our own write, then no sync; a foreign change syncs after 1 s', () => {
  const tracker = tracking(slice({ generation: 2 }))
  const watch = watching(tracker)
  assert.deepEqual([...watch.onAdd!(slice({ generation: 2 }))], [])
  assert.deepEqual([...watch.onUpdate!(slice(), slice({ generation: 2 }))], [])
  assert.deepEqual(
    [...watch.onUpdate!(slice({ generation: 2 }), slice({ generation: 3 }))],
    [later('svc')],
  )
  tracker.deleted(slice())
  assert.deepEqual([...watch.onDelete!(slice())], [])
  tracker.written(slice())
  assert.deepEqual([...watch.onDelete!(slice())], [later('svc')])
})

test('slices of other managers, and those that name no Service, are invisible', () => {
  const watch = watching()
  const foreign = slice({ manager: 'somebody' })
  assert.deepEqual([...watch.onAdd!(foreign)], [])
  assert.deepEqual([...watch.onUpdate!(foreign, foreign)], [])
  assert.deepEqual([...watch.onAdd!(slice({ service: '' }))], [])
  assert.deepEqual([...watch.onAdd!(slice())], [later('svc')])
})

test('another service-name label concerns both Services; a managed-by label that comes or goes its own', () => {
  const watch = watching(tracking(slice()))
  assert.deepEqual(
    [...watch.onUpdate!(slice(), slice({ service: 'new' }))],
    [later('new'), later('svc')],
  )
  const foreign = slice({ manager: 'somebody' })
  assert.deepEqual([...watch.onUpdate!(slice(), foreign)], [later('svc')])
  assert.deepEqual([...watch.onUpdate!(foreign, slice())], [later('svc')])
})

test('a slice that was taken from its Service, or replaced under its name, is news of the Service', () => {
  const others: readonly (readonly [string, ReturnType<typeof slice>])[] = [
    ['without the service-name label', slice({ service: '' })],
    ['of another Service', slice({ service: 'new' })],
    ['of another manager', slice({ manager: 'somebody' })],
    ['made anew', slice({ uid: 'recreated' })],
  ]
  for (const [what, current] of others) {
    const keys = [...watching(tracking(slice())).onUpdate!(slice(), current)]
    assert.deepEqual(keys.at(-1), later('svc'), what)
  }
})

test('what a cache that has come to its write does not have is gone again, and is awaited no more', () => {
  let seen = '9'
  const tracker = new SliceTracker(() => seen)
  tracker.written(slice({ resourceVersion: '10' }))
  for (seen of ['', '9']) assert.ok(tracker.isStale('ns/svc', []), seen)
  seen = '10'
  assert.ok(!tracker.isStale('ns/svc', []))
  // An answer that does not say how far the cache has to come.
  tracker.written(slice({ name: 'other' }))
  assert.ok(tracker.isStale('ns/svc', []))
  tracker.forget('ns/svc')
  tracker.written(slice({ resourceVersion: '10' }))
  assert.ok(!tracker.isStale('ns/svc', []))
  // Not even by a cache that is filled anew.
  seen = ''
  assert.ok(!tracker.isStale('ns/svc', []))
})
