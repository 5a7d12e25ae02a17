import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, keysOf, testClock } from '../testing/index.ts'
import type { ObjectCacheOptions } from './cache-options.ts'
import { ObjectCache } from './object-cache.ts'

const type = resources.configmaps

const inNamespace = (namespace: string, name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
})

/** The cache of ConfigMaps of two namespaces, each with `a` and one of its own name. */
function caching(options: Partial<ObjectCacheOptions> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const stopping = new AbortController()
  const cache = new ObjectCache({
    client: server,
    clock,
    random: new SeededRandom('cache'),
    logger: new RecordingLogger(),
    defaultNamespaces: { one: {}, two: {} },
    ...options,
  })
  for (const namespace of ['one', 'two'])
    for (const name of ['a', namespace]) server.put(type, inNamespace(namespace, name))
  const informer = cache.informer(type)
  return {
    server,
    clock,
    cache,
    informer,
    signal: stopping.signal,
    async start() {
      cache.start(stopping.signal)
      await clock.advance(0)
    },
    async stop() {
      stopping.abort()
      await clock.advance(0)
      await cache.shutdown()
    },
  }
}

test('an informer of several namespaces is seen as one', async () => {
  const { informer, signal, start, stop } = caching()
  informer.addIndex('name', ({ metadata }) => [metadata!.name!])
  await start()
  assert.equal(await informer.whenSynced(signal), true)
  const { lister } = informer
  assert.equal(lister.get('two', 'two')?.metadata?.namespace, 'two')
  assert.equal(lister.get('two', 'one'), undefined)
  assert.equal(lister.getByKey('two/two')?.metadata?.name, 'two')
  assert.equal(lister.getByKey('three/a'), undefined)
  assert.deepEqual(keysOf(lister.list()), ['one/a', 'one/one', 'two/a', 'two/two'])
  assert.deepEqual(keysOf(lister.list('one')), ['one/a', 'one/one'])
  assert.deepEqual([lister.count(), lister.count('one')], [4, 2])
  assert.deepEqual(keysOf(lister.byIndex('name', 'a')), ['one/a', 'two/a'])
  assert.throws(() => lister.get('three', 'a'), {
    message: 'unable to get: three because of unknown namespace for the cache',
  })
  await stop()
})

test('it has come to a version only where it is of all namespaces', async () => {
  for (const [defaultNamespaces, isKnown] of [
    [{ one: {}, two: {} }, false],
    [undefined, true],
  ] as const) {
    const { informer, start, stop } = caching({ defaultNamespaces })
    await start()
    assert.equal(informer.lastSyncResourceVersion() !== '', isKnown)
    await stop()
  }
})

test('it is synced when each namespace is, and so are its handlers', async () => {
  const { server, informer, signal, start, stop } = caching()
  const slow = Promise.withResolvers<void>()
  server.onRequest = ({ path }) => (path.includes('/two/') ? slow.promise : undefined)
  const heard: string[] = []
  const registration = informer.addHandler({ onAdd: (object) => heard.push(...keysOf([object])) })
  await start()
  const synced = registration.whenSynced(signal)
  assert.deepEqual([informer.hasSynced(), registration.hasSynced()], [false, false])
  slow.resolve()
  assert.equal(await synced, true)
  assert.deepEqual([informer.hasSynced(), registration.hasSynced()], [true, true])
  assert.deepEqual(heard.toSorted(), ['one/a', 'one/one', 'two/a', 'two/two'])
  await stop()
})

test('a stop before that is no sync', async () => {
  const { server, informer, signal, start, stop } = caching()
  const never = Promise.withResolvers<void>()
  server.onRequest = ({ path }) => (path.includes('/two/') ? never.promise : undefined)
  await start()
  const synced = informer.whenSynced(signal)
  const stopped = stop()
  never.resolve()
  assert.equal(await synced, false)
  await stopped
})

test('a handler that is removed hears nothing more, from any namespace', async () => {
  const { server, clock, informer, start, stop } = caching()
  const heard: string[] = []
  const registration = informer.addHandler({ onAdd: (object) => heard.push(...keysOf([object])) })
  await start()
  heard.length = 0
  server.put(type, inNamespace('two', 'new'))
  await clock.advance(0)
  assert.deepEqual(heard, ['two/new'])
  registration.remove()
  for (const namespace of ['one', 'two']) server.put(type, inNamespace(namespace, 'late'))
  await clock.advance(0)
  assert.deepEqual(heard, ['two/new'])
  await stop()
})

test('whole objects and metadata alone are cached apart; one kind is cached once', () => {
  const { cache, informer } = caching()
  assert.equal(cache.informer(type), informer)
  const metadata = cache.informer(type, { metadataOnly: true })
  assert.notEqual(metadata, informer)
  assert.equal(cache.informer(type, { metadataOnly: true }), metadata)
})

test('the lists of a namespace that it does not have are refused, and objects without one are found by their fields', async () => {
  const { informer, server, cache, signal, start, stop } = caching()
  server.put(resources.nodes, { metadata: { name: 'n' }, spec: { providerID: 'p' } })
  const whole = caching({ defaultNamespaces: undefined })
  whole.server.put(resources.nodes, { metadata: { name: 'n' }, spec: { providerID: 'p' } })
  whole.cache.indexField(resources.nodes, 'spec.providerID', ({ spec }) => [spec!.providerID!])
  await Promise.all([start(), whole.start()])
  assert.throws(() => informer.lister.list('three'), /unknown namespace/)
  const nodes = await whole.cache.filled(resources.nodes, { signal })
  assert.deepEqual(keysOf(nodes.query({ fieldSelector: 'spec.providerID=p' })), ['n'])
  assert.equal(await cache.waitForCacheSync(signal), true)
  await Promise.all([stop(), whole.stop()])
})

test('what is not filled when its signal ends says why, and others are no excuse for it', async () => {
  const { server, cache, clock, start, stop } = caching()
  server.onRequest = ({ path }) => {
    if (path.includes('secrets')) throw new Error('no such thing')
  }
  await start()
  const given = new AbortController()
  const secrets = cache.filled(resources.secrets, { signal: given.signal })
  const all = cache.waitForCacheSync(given.signal)
  await clock.advance(0)
  const reason = new Error('enough')
  given.abort(reason)
  await assert.rejects(secrets, { code: 'CACHE_SYNC_FAILED', cause: reason })
  assert.equal(await all, false)
  let isOver = false
  void cache.shutdown().then(() => (isOver = true))
  await clock.advance(0)
  assert.equal(isOver, false)
  await stop()
  assert.equal(isOver, true)
})

test('the informers of a kind resync by themselves, a tenth earlier than they are told at most', async () => {
  const { informer, clock, start, stop } = caching({ syncPeriodMs: 3_600_000 })
  const atMs = new Map<string, number>()
  const onUpdate = (_: ConfigMap, { metadata }: ConfigMap): void =>
    void atMs.set(metadata!.namespace!, clock.nowMs())
  informer.addHandler({ onUpdate })
  await start()
  await clock.advance(1.1 * 3_600_000)
  assert.notEqual(atMs.get('one'), atMs.get('two'))
  await stop()
  const soonRandom: RandomSource = { next: () => 0, fork: () => soonRandom }
  const soon = caching({ syncPeriodMs: 3_600_000, random: soonRandom })
  let resyncs = 0
  soon.informer.addHandler({ onUpdate: () => void resyncs++ })
  await soon.start()
  await soon.clock.advance(0.9 * 3_600_000)
  assert.equal(resyncs, 4)
  await soon.stop()
})
