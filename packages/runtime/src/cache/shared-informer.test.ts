import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '../informer.ts'
import { keysOf } from '../testing/index.ts'
import { informing, noting, pod } from './fixtures.ts'

test('a handler is told of the initial list, then of each change, in order', async () => {
  const i = informing()
  const { handler, seen } = noting()
  i.server.put(resources.pods, pod('a'))
  i.informer.addHandler(handler)
  await i.start()
  i.server.put(resources.pods, pod('b'))
  i.server.put(resources.pods, pod('a'))
  i.server.remove(resources.pods, pod('b'))
  await i.clock.advance(0)
  assert.deepEqual(seen, ['add a@1 initial', 'add b@2', 'update a@1 a@3', 'delete b@4'])
  await i.end()
})

test('ADDED for a known key is an update, MODIFIED for an unknown key an add', async () => {
  const i = informing()
  const { handler, seen } = noting()
  i.server.put(resources.pods, pod('a'))
  i.informer.addHandler(handler)
  await i.start()
  const [watch] = i.server.watches
  watch!.send({ type: 'ADDED', object: pod('a', { metadata: { resourceVersion: '5' } }) })
  watch!.send({ type: 'MODIFIED', object: pod('b', { metadata: { resourceVersion: '6' } }) })
  watch!.send({ type: 'DELETED', object: pod('c', { metadata: { resourceVersion: '7' } }) })
  await i.clock.advance(0)
  assert.deepEqual(seen, ['add a@1 initial', 'update a@1 a@5', 'add b@6', 'delete c@7'])
  await i.end()
})

test('delete and re-create between two observations arrives as one update whose UIDs differ', async () => {
  const i = informing()
  const uids: unknown[] = []
  i.server.put(resources.pods, pod('a', { metadata: { uid: 'old' } }))
  i.informer.addHandler({
    onUpdate: (previous, object) => void uids.push([previous.metadata!.uid, object.metadata!.uid]),
  })
  await i.start()
  const [watch] = i.server.watches
  watch!.send({
    type: 'MODIFIED',
    object: pod('a', { metadata: { uid: 'new', resourceVersion: '9' } }),
  })
  await i.clock.advance(0)
  assert.deepEqual(uids, [['old', 'new']])
  await i.end()
})

test('Given a missed add and a missed update across a broken watch, when the round restarts, then one OnAdd and one OnUpdate arrive.', async () => {
  const i = informing()
  const { handler, seen } = noting()
  i.server.put(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('unchanged'))
  i.informer.addHandler(handler)
  await i.start()
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await i.clock.advance(0)
  i.server.put(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('b'))
  seen.length = 0
  await i.clock.advance(2_000)
  assert.deepEqual(
    seen.filter((line) => !line.includes('unchanged')),
    ['update a@1 a@3', 'add b@4'],
  )
  await i.end()
})

test('Given a list that lacks a cached key, then OnDelete gets a tombstone with the last object.', async () => {
  const i = informing({ watchList: false })
  const tombstones: unknown[] = []
  const last = i.server.put(resources.pods, pod('a'))
  i.informer.addHandler({ onDelete: (object) => void tombstones.push(object) })
  await i.start()
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await i.clock.advance(0)
  i.server.remove(resources.pods, pod('a'))
  await i.clock.advance(2_000)
  assert.deepEqual(tombstones, [new DeletedFinalStateUnknown('default/a', last)])
  assert.equal(i.informer.lister.getByKey('default/a'), undefined)
  await i.end()
})

test('Given an atomic replace, then the store is complete before the first handler call.', async () => {
  const i = informing()
  const stores: string[][] = []
  const note = () => void stores.push(keysOf(i.informer.lister.list()))
  i.server.put(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('b'))
  i.informer.addHandler({ onAdd: note, onDelete: note, onUpdate: note })
  await i.start()
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await i.clock.advance(0)
  i.server.remove(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('c'))
  await i.clock.advance(2_000)
  assert.deepEqual(stores, [
    ['default/a', 'default/b'],
    ['default/a', 'default/b'],
    ['default/b', 'default/c'],
    ['default/b', 'default/c'],
    ['default/b', 'default/c'],
  ])
  await i.end()
})

test('after a replace handlers are told of all deletions first, then of the items in the order of the list', async () => {
  const i = informing({ watchList: false })
  const { handler, seen } = noting()
  for (const name of ['a', 'b', 'c']) i.server.put(resources.pods, pod(name))
  i.informer.addHandler(handler)
  await i.start()
  seen.length = 0
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await i.clock.advance(0)
  i.server.remove(resources.pods, pod('c'))
  i.server.remove(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('d'))
  i.server.put(resources.pods, pod('b'))
  await i.clock.advance(2_000)
  assert.deepEqual(seen, [
    'tombstone default/a',
    'tombstone default/c',
    'update b@2 b@7',
    'add d@6',
  ])
  await i.end()
})

test('Given a handler added after start, then it first gets adds for all cached objects.', async () => {
  const i = informing()
  i.server.put(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('b'))
  await i.start()
  const { handler, seen } = noting()
  const registration = i.informer.addHandler(handler)
  assert.equal(registration.hasSynced(), false, 'its adds are not delivered yet')
  i.server.put(resources.pods, pod('c'))
  await i.clock.advance(0)
  assert.deepEqual(seen, ['add a@1 initial', 'add b@2 initial', 'add c@3'])
  assert.equal(registration.hasSynced(), true)
  await i.end()
})

test('Given a handler added to a stopped informer, then error.', async () => {
  const i = informing()
  await i.start()
  await i.end()
  assert.throws(() => i.informer.addHandler({}), /stopped already/)
  assert.throws(() => i.informer.addIndex('x', () => []), /stopped already/)
})

test('a handler has synced when the informer has and all of its initial adds have returned', async () => {
  const i = informing()
  i.server.put(resources.pods, pod('a'))
  const release: (() => void)[] = []
  const slow = i.informer.addHandler({
    onAdd: () => new Promise<void>((resolve) => release.push(resolve)),
  })
  const fast = i.informer.addHandler({})
  const waiting = slow.whenSynced(new AbortController().signal)
  await i.start()
  assert.deepEqual(
    [i.informer.hasSynced(), fast.hasSynced(), slow.hasSynced()],
    [true, true, false],
  )
  release[0]!()
  assert.equal(await waiting, true)
  assert.equal(slow.hasSynced(), true)
  await i.end()
})

test('an empty collection is synced too', async () => {
  const i = informing()
  const registration = i.informer.addHandler({})
  assert.equal(i.informer.hasSynced(), false)
  await i.start()
  assert.deepEqual([i.informer.hasSynced(), registration.hasSynced()], [true, true])
  await i.end()
})

test('waiting for sync ends with false when its signal aborts', async () => {
  const i = informing()
  const stop = new AbortController()
  const waiting = Promise.all([
    i.informer.whenSynced(stop.signal),
    i.informer.addHandler({}).whenSynced(stop.signal),
  ])
  stop.abort()
  assert.deepEqual(await waiting, [false, false])
})

test('a slow handler holds up neither the cache nor other handlers, and loses nothing', async () => {
  const i = informing()
  const release: (() => void)[] = []
  const slow: string[] = []
  i.informer.addHandler({
    onAdd: (object) => {
      slow.push(object.metadata!.name!)
      return new Promise<void>((resolve) => release.push(resolve))
    },
  })
  const { handler, seen } = noting()
  i.informer.addHandler(handler)
  await i.start()
  for (let n = 0; n < 3_000; n++) i.server.put(resources.pods, pod(`p${n}`))
  await i.clock.advance(0)
  assert.equal(seen.length, 3_000)
  assert.deepEqual(slow, ['p0'])
  while (release.length > 0) {
    release.shift()!()
    await i.clock.advance(0)
  }
  assert.deepEqual(
    slow,
    Array.from({ length: 3_000 }, (_, n) => `p${n}`),
  )
  await i.end()
})

test('Given a panicking handler with crash suppression, then later events still arrive.', async () => {
  const i = informing()
  const calls: string[] = []
  i.informer.addHandler({
    onAdd: (object) => {
      calls.push(object.metadata!.name!)
      if (calls.length === 1) throw new Error('a defect')
    },
  })
  const { handler, seen } = noting()
  i.informer.addHandler(handler)
  await i.start()
  i.server.put(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('b'))
  await i.clock.advance(999)
  assert.deepEqual(calls, ['a'])
  assert.equal(seen.length, 2, 'the other handler does not notice')
  await i.clock.advance(1)
  assert.deepEqual(calls, ['a', 'b'])
  assert.match(
    String(i.logger.lines.find(({ severity }) => severity === 'error')?.error),
    /a defect/,
  )
  await i.end()
})

test('a rejecting handler is like a throwing one', async () => {
  const i = informing()
  let calls = 0
  i.informer.addHandler({ onAdd: () => (calls++, Promise.reject(new Error('a defect'))) })
  await i.start()
  i.server.put(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('b'))
  await i.clock.advance(1_000)
  assert.equal(calls, 2)
  await i.end()
})

test('a removed handler is told nothing more, and removing twice is fine', async () => {
  const i = informing()
  const { handler, seen } = noting()
  const registration = i.informer.addHandler(handler)
  await i.start()
  i.server.put(resources.pods, pod('a'))
  registration.remove()
  registration.remove()
  await i.clock.advance(0)
  assert.deepEqual(seen, [])
  await i.end()
  registration.remove()
})

test('set before start, transform and watch error handler count; afterwards they are refused', async () => {
  const i = informing()
  i.informer.setTransform((object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { late: 'yes' } },
  }))
  const errors: unknown[] = []
  i.informer.setWatchErrorHandler((error) => errors.push(error))
  i.server.put(resources.pods, pod('a'))
  i.server.onRequest = ({ verb }) => {
    if (verb === 'list') throw new Error('no list')
  }
  i.server.onRequest = undefined
  await i.start()
  assert.deepEqual(i.informer.lister.list()[0]!.metadata!.labels, { late: 'yes' })
  assert.throws(() => i.informer.setTransform((object) => object), /informer has already started/)
  assert.throws(() => i.informer.setWatchErrorHandler(() => {}), /informer has already started/)
  await i.end()
})

test('a second run warns and returns', async () => {
  const i = informing()
  await i.start()
  await i.informer.run(new AbortController().signal)
  assert.ok(i.logger.messages().some((message) => message.includes('not allowed')))
  await i.end()
})

test('an index may be added after start: what is cached is indexed', async () => {
  const i = informing()
  i.server.put(resources.pods, pod('a', { metadata: { labels: { app: 'x' } } }))
  await i.start()
  i.informer.addIndex('app', (object) => [object.metadata?.labels?.app ?? ''])
  assert.deepEqual(keysOf(i.informer.lister.byIndex('app', 'x')), ['default/a'])
  await i.end()
})

test('a bookmark moves the version of the store and tells no handler', async () => {
  const i = informing()
  const { handler, seen } = noting()
  i.informer.addHandler(handler)
  await i.start()
  i.server.watches[0]!.bookmark('77')
  await i.clock.advance(0)
  assert.equal(i.informer.lastSyncResourceVersion(), '77')
  assert.deepEqual(seen, [])
  await i.end()
})

test('Given handlers with 1 s and 2 s resync, then each is resynced on its own schedule.', async () => {
  const i = informing({ defaultResyncMs: 12 * 3600_000 })
  i.server.put(resources.pods, pod('a'))
  const atMs: Record<string, number[]> = { one: [], two: [], none: [] }
  for (const [name, resyncPeriodMs] of [
    ['one', 1_000],
    ['two', 2_000],
    ['none', 0],
  ] as const) {
    i.informer.addHandler(
      { onUpdate: () => void atMs[name]!.push(i.clock.monotonicMs()) },
      { resyncPeriodMs },
    )
  }
  await i.start()
  await i.clock.advance(4_500)
  assert.deepEqual(atMs, { one: [1_000, 2_000, 3_000, 4_000], two: [2_000, 4_000], none: [] })
  assert.equal(i.server.requested('list', 'watch').length, 1, 'a resync does not ask the server')
  await i.end()
})

test('a resync period below 1 s becomes 1 s, and one asked for after start is raised to the check period', async () => {
  const i = informing({ defaultResyncMs: 5_000 })
  i.server.put(resources.pods, pod('a'))
  let early = 0
  let late = 0
  i.informer.addHandler({ onUpdate: () => void early++ }, { resyncPeriodMs: 10 })
  await i.start()
  await i.clock.advance(3_000)
  assert.equal(early, 3)
  await i.end()

  const j = informing({ defaultResyncMs: 5_000 })
  j.server.put(resources.pods, pod('a'))
  await j.start()
  j.informer.addHandler({ onUpdate: () => void late++ }, { resyncPeriodMs: 1_000 })
  await j.clock.advance(4_999)
  assert.equal(late, 0)
  await j.clock.advance(1)
  assert.equal(late, 1)
  await j.end()
})

test('an informer without resync ignores requests for it, with a warning', async () => {
  const i = informing()
  i.server.put(resources.pods, pod('a'))
  let resyncs = 0
  i.informer.addHandler({ onUpdate: () => void resyncs++ }, { resyncPeriodMs: 1_000 })
  await i.start()
  await i.clock.advance(10_000)
  assert.equal(resyncs, 0)
  assert.ok(i.logger.messages().some((message) => message.includes('does not resync')))
  await i.end()
})

test('a relist with unchanged objects reaches everybody before the first check, afterwards only due handlers', async () => {
  const i = informing({ defaultResyncMs: 3600_000 })
  i.server.put(resources.pods, pod('a'))
  let updates = 0
  i.informer.addHandler({ onUpdate: () => void updates++ }, { resyncPeriodMs: 0 })
  await i.start()
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await i.clock.advance(2_000)
  assert.equal(updates, 1)
  await i.clock.advance(3600_000)
  i.informer.addHandler({}, { resyncPeriodMs: 3600_000 })
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await i.clock.advance(40_000)
  assert.equal(updates, 1)
  await i.end()
})

test('stop: the run resolves, nothing is delivered afterwards', async () => {
  const i = informing()
  const { handler, seen } = noting()
  i.informer.addHandler(handler)
  await i.start()
  await i.end()
  i.server.put(resources.pods, pod('a'))
  await i.clock.advance(60_000)
  assert.deepEqual(seen, [])
})

test('stop: what waits behind a slow handler is dropped', async () => {
  const i = informing()
  const seen: string[] = []
  const slow = Promise.withResolvers<void>()
  i.informer.addHandler({
    onAdd(object) {
      seen.push(object.metadata!.name!)
      return slow.promise as never
    },
  })
  i.server.put(resources.pods, pod('a'))
  i.server.put(resources.pods, pod('b'))
  await i.start()
  await i.end()
  slow.resolve()
  await i.clock.advance(0)
  assert.deepEqual(seen, ['a'])
})
