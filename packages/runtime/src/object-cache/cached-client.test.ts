import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import type { ConfigMap } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { configMap, websites } from '../builder/fixtures.ts'
import { FakeServer, keysOf, statusError, testClock } from '../testing/index.ts'
import { CachedClient, withSignal } from './cached-client.ts'
import type { CachedClientOptions } from './cached-client.ts'
import { ObjectCache } from './object-cache.ts'
import type { ObjectCacheOptions } from './cache-options.ts'
import { unstructured } from './unstructured.ts'

function caching(
  options: Partial<ObjectCacheOptions> = {},
  reads: Partial<CachedClientOptions> = {},
) {
  const server = new FakeServer()
  const clock = testClock()
  const stop = new AbortController()
  const cache = new ObjectCache({
    client: server,
    clock,
    random: new SeededRandom('cache'),
    logger: new RecordingLogger(),
    ...options,
  })
  const client = new CachedClient({ cache, live: server, ...reads })
  return {
    server,
    clock,
    cache,
    client,
    configMaps: (namespace?: string) => client.resource(resources.configmaps, namespace),
    start: () => cache.start(stop.signal),
    async stop() {
      stop.abort()
      await cache.shutdown()
    },
  }
}

const inNamespace = (namespace: string, name: string, labels = {}): ConfigMap => ({
  ...configMap(name),
  metadata: { namespace, name, labels },
})

test('the first read of a type starts its informer and waits for it; reads then make no requests', async () => {
  const { server, configMaps, start, stop } = caching()
  server.put(resources.configmaps, configMap('a'))
  start()
  assert.equal(server.requests.length, 0)
  const read = await configMaps('default').get('a')
  assert.equal(read.metadata?.name, 'a')
  const requests = server.requests.length
  assert.deepEqual(keysOf((await configMaps('default').list()).items), ['default/a'])
  await assert.rejects(configMaps('default').get('b'), (error) => isNotFound(error))
  assert.equal(server.requests.length, requests)
  await stop()
})

test('a read that waits for a cache fails when the manager stops, also one with a signal of its own', async () => {
  const { server, configMaps, start, stop } = caching()
  server.onRequest = () => new Promise(() => {})
  start()
  const own = new AbortController().signal
  const reads = [undefined, { signal: own }].map((options) =>
    configMaps('default').get('a', options),
  )
  const failed = reads.map((read) => assert.rejects(read, { code: 'CACHE_SYNC_FAILED' }))
  await Promise.resolve()
  void stop()
  await Promise.all(failed)
})

test('before the start reads are refused; with failOnMissingInformer those of types that nobody watches', async () => {
  const { cache, configMaps, start, stop } = caching({ failOnMissingInformer: true })
  await assert.rejects(configMaps('default').get('a'), {
    code: 'CACHE_READ_REFUSED',
    message: 'the cache is not started, can not read objects',
  })
  start()
  await assert.rejects(configMaps('default').list(), {
    code: 'CACHE_READ_REFUSED',
    message: 'ConfigMap is not cached',
  })
  cache.informer(resources.configmaps)
  assert.deepEqual((await configMaps('default').list()).items, [])
  await stop()
})

test('a read whose cache does not fill ends with its signal', async () => {
  const { server, configMaps, start } = caching()
  server.onRequest = () => new Promise(() => {})
  start()
  const patience = new AbortController()
  const read = configMaps('default').get('a', { signal: patience.signal })
  patience.abort(new Error('enough'))
  await assert.rejects(read, {
    code: 'CACHE_SYNC_FAILED',
    message: 'Timeout: failed waiting for ConfigMap Informer to sync',
  })
})

test('a read of a kind that is not served fails at once, and the next one asks again', async () => {
  for (const defaultNamespaces of [undefined, { default: {}, other: {} }]) {
    const { server, clock, cache, configMaps, start, stop } = caching({ defaultNamespaces })
    server.put(resources.configmaps, configMap('a'))
    server.onRequest = () => {
      throw statusError(404, 'NotFound', 'the server could not find the requested resource')
    }
    // Who watches it as well, and what they look for, stays.
    cache.indexField(resources.configmaps, 'name', ({ metadata }) => [metadata!.name!])
    start()
    const fromMs = clock.monotonicMs()
    const { signal } = new AbortController()
    for (let i = 0; i < 3; i++) {
      const reads = [configMaps('default').get('a', { signal }), configMaps('default').list()]
      for (const read of reads)
        await assert.rejects(read, (error: Error & { code?: string }) => {
          assert.equal(error.code, 'KIND_NOT_SERVED')
          assert.equal(error.message, 'no matches for kind "ConfigMap" in version "v1"')
          return !isNotFound(error)
        })
    }
    server.onRequest = undefined
    assert.equal((await configMaps('default').get('a')).metadata?.name, 'a')
    const { items } = await configMaps('default').list({ fieldSelector: 'name=a' })
    assert.equal(items.length, 1)
    assert.equal(clock.monotonicMs(), fromMs, 'nothing was waited for')
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    await stop()
  }
})

test('a read that is forbidden waits, and asks no more often for it', async () => {
  const { server, clock, configMaps, start, stop } = caching()
  server.put(resources.configmaps, configMap('a'))
  let forbidden = 0
  server.onRequest = ({ verb }) => {
    if (verb === 'list') forbidden++
    throw statusError(403, 'Forbidden')
  }
  start()
  const reads = [1, 2, 3].map(() => configMaps('default').get('a'))
  await clock.advance(0)
  assert.equal(forbidden, 1)
  server.onRequest = undefined
  await clock.advance(60_000)
  const names = (await Promise.all(reads)).map(({ metadata }) => metadata?.name)
  assert.deepEqual(names, ['a', 'a', 'a'])
  await stop()
})

test('reads are frozen: an edit throws where it is made; or copies for each reader; or shared', async () => {
  for (const reads of ['frozen', 'copies', 'shared'] as const) {
    const { server, configMaps, start, stop } = caching({ reads })
    server.put(resources.configmaps, { ...configMap('a'), data: { page: '1' } })
    start()
    const first = await configMaps('default').get('a')
    const edit = (): void => void ((first.data as Record<string, string>)['page'] = '2')
    if (reads === 'frozen') assert.throws(edit, TypeError)
    else edit()
    const [second] = (await configMaps('default').list()).items
    assert.equal(second?.data?.['page'], reads === 'shared' ? '2' : '1')
    assert.equal(first === second, reads !== 'copies')
    await stop()
  }
})

test('of a namespaced type no object is read without a namespace; of another the namespace does not matter', async () => {
  const { server, client, configMaps, start, stop } = caching()
  server.put(resources.configmaps, configMap('a'))
  server.put(resources.nodes, { metadata: { name: 'n' } })
  start()
  for (const namespace of [undefined, ''])
    await assert.rejects(configMaps(namespace).get('a'), {
      code: 'CACHE_READ_REFUSED',
      message: 'an empty namespace may not be set when a resource name is provided',
    })
  const nodes = client.resource(resources.nodes, 'default')
  assert.equal((await nodes.get('n')).metadata?.name, 'n')
  assert.equal((await nodes.list()).items.length, 1)
  await stop()
})

test('list: namespace, label selector, limit; the continue of an answer cannot be given back', async () => {
  const { server, configMaps, start, stop } = caching()
  for (const [namespace, name] of [
    ['one', 'a'],
    ['one', 'b'],
    ['two', 'c'],
  ] as const)
    server.put(resources.configmaps, inNamespace(namespace, name, { name }))
  start()
  assert.equal((await configMaps().list()).items.length, 3)
  assert.deepEqual(keysOf((await configMaps('one').list()).items), ['one/a', 'one/b'])
  const selected = await configMaps().list({ labelSelector: 'name in (b,c)' })
  assert.deepEqual(keysOf(selected.items), ['one/b', 'two/c'])
  const cut = await configMaps().list({ limit: 2 })
  assert.equal(cut.items.length, 2)
  assert.equal(cut.kind, 'ConfigMapList')
  assert.equal(cut.metadata.continue, 'continue-not-supported')
  await assert.rejects(configMaps().list({ continue: 'continue-not-supported' }), {
    message: 'continue list option is not supported by the cache',
  })
  const pages: number[] = []
  for await (const page of configMaps().pages({ limit: 1 })) pages.push(page.items.length)
  assert.deepEqual(pages, [3], 'all pages of a cached list are one')
  await stop()
})

test('field selectors need an index and exact matches; an index serves one namespace and all of them', async () => {
  const { server, cache, configMaps, start, stop } = caching()
  const sizesOf = (object: ConfigMap) => Object.values(object.data ?? {})
  cache.indexField(resources.configmaps, 'data', sizesOf)
  cache.indexField(resources.configmaps, 'metadata.name', (object) => [object.metadata!.name!])
  const put = (namespace: string, name: string, ...values: string[]) =>
    server.put(resources.configmaps, {
      ...inNamespace(namespace, name),
      data: Object.fromEntries(values.entries()),
    })
  put('one', 'a', 'x', 'y')
  put('one', 'b', 'y')
  put('two', 'c', 'y')
  start()
  const found = async (fieldSelector: string, namespace?: string) =>
    keysOf((await configMaps(namespace).list({ fieldSelector })).items)
  assert.deepEqual(await found('data=y'), ['one/a', 'one/b', 'two/c'])
  assert.deepEqual(await found('data=y', 'one'), ['one/a', 'one/b'])
  assert.deepEqual(await found('data=x'), ['one/a'])
  assert.deepEqual(await found('data=y,metadata.name=c'), ['two/c'])
  assert.deepEqual(await found('metadata.name=c,data=y'), ['two/c'])
  assert.deepEqual(await found('metadata.name=c,data=x'), [])
  assert.deepEqual(await found('data=z'), [])
  for (const fieldSelector of ['data!=y', 'data=y,metadata.name!=c'])
    await assert.rejects(found(fieldSelector), {
      message: 'non-exact field matches are not supported by the cache',
    })
  await assert.rejects(found('spec.nodeName=a'), (error: Error) => {
    assert.equal(error.message, 'Index with name field:spec.nodeName does not exist')
    return error.cause instanceof Error
  })
  assert.throws(() => cache.indexField(resources.configmaps, 'data', () => []), /indexer conflict/)
  await stop()
})

test('writes, subresources, watches and raw requests go to the API server, as do reads of unstructured and uncached types', async () => {
  const { server, client, configMaps, start, stop } = caching({}, { uncached: [resources.secrets] })
  start()
  const objects = configMaps('default')
  const written = await objects.create(configMap('a'))
  await objects.update({ ...written, data: { a: '1' } })
  await objects.patch('a', { type: 'merge', value: { data: { b: '2' } } })
  await objects.apply('a', configMap('a'), { fieldManager: 'us' })
  await objects.get('a', { subresource: 'scale' })
  await objects.createSubresource('a', 'token', {})
  await objects.delete('a')
  await objects.deleteCollection()
  const stream = await objects.watch()
  const live = unstructured(resources.configmaps)
  await client.resource(live, 'default').list()
  await client.resource(resources.secrets, 'default').list()
  await assert.rejects(client.raw({ method: 'GET', path: '/version' }), /no other paths/)
  assert.deepEqual(
    server.requests.map(({ verb }) => verb),
    [
      'create',
      'update',
      'patch',
      'patch',
      'get',
      'create token',
      'delete',
      'deleteCollection',
      'watch',
      'list',
      'list',
      'GET',
    ],
  )
  assert.ok(stream)
  await stop()
})

test('unstructured types can be cached on request', async () => {
  const { server, client, start, stop } = caching({}, { cacheUnstructured: true })
  start()
  await client.resource(unstructured(resources.configmaps), 'default').list()
  assert.equal(server.requested('list').length, 0)
  await stop()
})

test('after a write the cache may still be old', async () => {
  const { server, clock, configMaps, start, stop } = caching()
  start()
  await configMaps('default').list()
  await configMaps('default').create(configMap('a'))
  const { items } = await configMaps('default').list()
  assert.equal(items.length, 0)
  assert.ok(server.get(resources.configmaps, 'default', 'a'))
  await clock.advance(0)
  assert.equal((await configMaps('default').list()).items.length, 1)
  await stop()
})

test('by namespace there is an informer each; other namespaces are unknown to the cache', async () => {
  const { server, cache, configMaps, start, stop } = caching({
    defaultNamespaces: { one: {}, two: {} },
  })
  for (const namespace of ['one', 'two', 'three'])
    server.put(resources.configmaps, inNamespace(namespace, 'a'))
  cache.indexField(resources.configmaps, 'name', (object) => [object.metadata!.name!])
  start()
  assert.deepEqual(keysOf((await configMaps().list()).items), ['one/a', 'two/a'])
  assert.deepEqual(keysOf((await configMaps('two').list()).items), ['two/a'])
  const indexed = await configMaps().list({ fieldSelector: 'name=a' })
  assert.equal(indexed.items.length, 2)
  await assert.rejects(configMaps('three').get('a'), {
    message: 'unable to get: three/a because of unknown namespace for the cache',
  })
  await assert.rejects(configMaps('three').list(), {
    message: 'unable to list: three because of unknown namespace for the cache',
  })
  const paths = server.requested('watch').map(({ path }) => path)
  assert.deepEqual(paths.toSorted(), [
    '/api/v1/namespaces/one/configmaps',
    '/api/v1/namespaces/two/configmaps',
  ])
  const nodes = await caching({ defaultNamespaces: { one: {} } }).cache.informer(resources.nodes)
  assert.equal(nodes.lister.list().length, 0, 'cluster-scoped types have no namespaces')
  await stop()
})

test('no namespaces, and the empty one, are all of them; beside others it is the rest', async () => {
  for (const [defaultNamespaces, asked] of [
    [{}, ['/api/v1/configmaps undefined']],
    [{ '': {} }, ['/api/v1/configmaps undefined']],
    [
      { one: {}, '': { fieldSelector: 'metadata.name=a' }, two: {} },
      [
        '/api/v1/configmaps metadata.namespace!=one,metadata.namespace!=two,metadata.name=a',
        '/api/v1/namespaces/one/configmaps undefined',
        '/api/v1/namespaces/two/configmaps undefined',
      ],
    ],
  ] as const) {
    const { server, configMaps, start, stop } = caching({ defaultNamespaces })
    for (const namespace of ['one', 'two', 'three'])
      server.put(resources.configmaps, inNamespace(namespace, 'a'))
    start()
    const keys = ['one/a', 'three/a', 'two/a']
    assert.deepEqual(keysOf((await configMaps().list()).items), keys)
    assert.deepEqual(keysOf((await configMaps('three').list()).items), ['three/a'])
    for (const namespace of ['one', 'three'])
      assert.ok(await configMaps(namespace).get('a'), namespace)
    const paths = server
      .requested('watch')
      .map(({ path, options }) => `${path} ${options['fieldSelector']}`)
    assert.deepEqual(paths.toSorted(), asked)
    await stop()
  }
})

test('first lists ask for any version, or for the latest', async () => {
  for (const [firstList, resourceVersion] of [
    ['any', '0'],
    ['latest', undefined],
  ] as const) {
    const { server, cache, start, stop } = caching({ watchList: false, firstList })
    cache.informer(resources.pods)
    start()
    await cache.waitForCacheSync(new AbortController().signal)
    assert.deepEqual(
      server.requested('list').map(({ options }) => options['resourceVersion']),
      [resourceVersion],
    )
    await stop()
  }
})

test('settings: type and namespace before type, before default namespace, before default', async () => {
  const { server, cache, start, stop } = caching({
    labelSelector: 'from=default',
    fieldSelector: 'a=default',
    watchBookmarks: false,
    watchList: false,
    defaultNamespaces: { one: { labelSelector: 'from=namespace' }, two: {} },
    byType: [
      { type: resources.secrets, fieldSelector: 'a=type' },
      {
        type: resources.pods,
        labelSelector: 'from=type',
        namespaces: { one: { labelSelector: 'from=type-and-namespace' }, three: {} },
      },
    ],
  })
  for (const type of [resources.configmaps, resources.secrets, resources.pods])
    cache.informer(type as typeof resources.pods)
  start()
  await cache.waitForCacheSync(new AbortController().signal)
  const asked = server
    .requested('list')
    .map(
      ({ path, options }) =>
        `${path.slice(19)} ${options['labelSelector']} ${options['fieldSelector']}`,
    )
  assert.deepEqual(asked.toSorted(), [
    'one/configmaps from=namespace a=default',
    'one/pods from=type-and-namespace a=default',
    'one/secrets from=namespace a=type',
    'three/pods from=type a=default',
    'two/configmaps from=default a=default',
    'two/secrets from=default a=type',
  ])
  const [watch] = server.requested('watch')
  assert.equal(watch?.options['allowWatchBookmarks'], false)
  await stop()
})

test('cached objects lose managedFields unless the scope has a transform of its own', async () => {
  const managed = { ...configMap('a'), metadata: { ...configMap('a').metadata, managedFields: [] } }
  for (const transform of [undefined, <T>(object: T): T => object]) {
    const { server, configMaps, start, stop } = caching({ transform })
    server.put(resources.configmaps, managed)
    start()
    const { metadata } = await configMaps('default').get('a')
    assert.equal(metadata?.managedFields !== undefined, transform !== undefined)
    await stop()
  }
})

test('handlers are handed everything again every 10 h, less or more by a tenth', async () => {
  const { server, clock, cache, start, stop } = caching()
  server.put(resources.configmaps, configMap('a'))
  let resyncs = 0
  cache.informer(resources.configmaps).addHandler({ onUpdate: () => void resyncs++ })
  start()
  await clock.advance(8.9 * 3_600_000)
  assert.equal(resyncs, 0)
  await clock.advance(2.2 * 3_600_000)
  assert.equal(resyncs, 1)
  await stop()
})

test('informers of one age are not due in one moment', async () => {
  const { server, clock, cache, start, stop } = caching({ syncPeriodMs: 3_600_000 })
  const types = [resources.configmaps, resources.secrets, resources.services, resources.endpoints]
  const atMs: number[] = []
  for (const type of types) {
    server.put(type as never, { metadata: { namespace: 'default', name: 'a' } })
    const onUpdate = (): void => void atMs.push(clock.nowMs())
    cache.informer(type as typeof resources.configmaps).addHandler({ onUpdate })
  }
  start()
  await clock.advance(1.1 * 3_600_000)
  assert.equal(atMs.length, 4)
  assert.equal(new Set(atMs).size, 4)
  await stop()
})

test('what is created or updated says its kind: servers refuse custom resources that do not', async () => {
  const { server, client, start, stop } = caching()
  start()
  const objects = client.resource(websites, 'default')
  const created = await objects.create({ metadata: { name: 'a' }, spec: {} } as never)
  const { apiVersion: _, kind: __, ...bare } = created
  await objects.update(bare as never)
  const { metadata } = created
  const scale = { metadata, spec: { replicas: 2 } }
  await objects.update(scale as never, { subresource: 'scale' }).catch(() => {})
  assert.deepEqual(server.requested('update').at(-1)?.body, scale)
  const bodies = server
    .requested('create', 'update')
    .slice(0, 2)
    .map(({ body }) => body as typeof created)
  assert.deepEqual(
    bodies.map(({ apiVersion, kind }) => [apiVersion, kind]),
    [1, 2].map(() => [`${websites.group}/${websites.version}`, websites.kind]),
  )
  await stop()
})

test('a client bound to a signal gives up its requests with it, besides those with a signal of their own', async () => {
  const server = new FakeServer()
  const seen: (AbortSignal | undefined)[] = []
  const spy = new Proxy(server.resource(resources.configmaps, 'default'), {
    get: (_, verb) => async (first: unknown, options: { signal?: AbortSignal } | undefined) => {
      const given = verb === 'list' || verb === 'deleteCollection' ? first : options
      seen.push((given as { signal?: AbortSignal }).signal)
      return { verb }
    },
  })
  const bound = new AbortController()
  const own = new AbortController()
  const client = withSignal(
    { ...server, resource: () => spy as never, raw: async () => ({}) as never },
    bound.signal,
  )
  const objects = client.resource(resources.configmaps, 'default')
  await objects.get('a')
  await objects.list()
  await objects.create(configMap('a'))
  await objects.update(configMap('a'))
  await objects.delete('a')
  await objects.deleteCollection()
  assert.deepEqual(
    seen.map((signal) => signal === bound.signal),
    [true, true, true, true, true, true],
  )
  await objects.get('a', { signal: own.signal })
  assert.notEqual(seen.at(-1), bound.signal)
})

test('also watches, pages and creations of subresources, and those with a signal of their own too', async () => {
  const given = new Map<string, AbortSignal | undefined>()
  const objects = {
    async *pages(options: { signal?: AbortSignal }) {
      given.set('pages', options.signal)
      for (const name of ['a', 'b']) yield { metadata: {}, items: [configMap(name)] }
    },
    async watch(options: { signal?: AbortSignal }) {
      given.set('watch', options.signal)
      return (async function* () {
        for (const name of ['a', 'b']) yield { type: 'ADDED', object: configMap(name) }
      })()
    },
    async createSubresource(_: string, __: string, ___: object, options: { signal?: AbortSignal }) {
      given.set('createSubresource', options.signal)
      if (options.signal?.aborted) throw new Error('given up')
      return {}
    },
  }
  for (const own of [undefined, new AbortController().signal]) {
    const bound = new AbortController()
    const client = withSignal(
      { resource: () => objects as never, raw: async () => ({}) as never },
      bound.signal,
    )
    const resource = client.resource(resources.configmaps, 'default')
    const options = own && { signal: own }
    const pages = resource.pages(options)[Symbol.asyncIterator]()
    const events = (await resource.watch(options))[Symbol.asyncIterator]()
    assert.equal((await pages.next()).value?.items.length, 1)
    assert.equal((await events.next()).value?.type, 'ADDED')
    await resource.createSubresource('a', 'token', {}, options)
    bound.abort()
    assert.equal(given.get('pages')?.aborted, true)
    assert.equal(given.get('watch')?.aborted, true)
    await assert.rejects(resource.createSubresource('a', 'token', {}, options), /given up/)
    assert.equal((await events.next()).done, false)
    assert.equal((await events.next()).done, true)
  }
})
