import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceType, UnstructuredObject } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import type { HistogramOptions } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, RecordingMetrics, keysOf, testClock } from '../testing/index.ts'
import { SharedInformerFactory } from './informer-factory.ts'
import type { InformerFactoryOptions } from './informer-factory.ts'
import { informerMetrics } from './informer-metrics.ts'

function producing(extra: Partial<InformerFactoryOptions> = {}) {
  const client = new FakeServer()
  const clock = testClock()
  const stop = new AbortController()
  const factory = new SharedInformerFactory({
    client,
    clock,
    random: new SeededRandom('factory'),
    logger: new RecordingLogger(),
    ...extra,
  })
  return { client, clock, stop, factory }
}

const widgets: ResourceType<UnstructuredObject> = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}

test('one informer per type in the process, the first construction wins', () => {
  const { factory } = producing()
  assert.equal(factory.informer(resources.pods), factory.informer({ ...resources.pods }))
  assert.notEqual(factory.informer(resources.pods) as unknown, factory.informer(resources.services))
})

test('a field selector may differ by type', async () => {
  const { factory, clock, stop, client } = producing({
    fieldSelector: ({ resource }) => (resource === 'pods' ? 'spec.nodeName=n' : undefined),
  })
  factory.informer(resources.pods)
  factory.informer(resources.services)
  factory.start(stop.signal)
  await clock.advance(0)
  const selectors = new Set(
    client.requests.map(({ path, options }) => `${path} ${String(options.fieldSelector)}`),
  )
  assert.deepEqual([...selectors].toSorted(), [
    '/api/v1/pods spec.nodeName=n',
    '/api/v1/services undefined',
  ])
  stop.abort()
  await factory.shutdown()
})

test('start starts what was requested, and what is requested later with the next start', async () => {
  const { factory, clock, stop, client } = producing()
  const pods = factory.informer(resources.pods)
  factory.start(stop.signal)
  await clock.advance(0)
  const services = factory.informer(resources.services)
  await clock.advance(60_000)
  assert.deepEqual([pods.hasSynced(), services.hasSynced()], [true, false])
  factory.start(stop.signal)
  await clock.advance(0)
  assert.equal(services.hasSynced(), true)
  assert.equal(client.requests.length, 2, 'pods were not started twice')
  stop.abort()
  await factory.shutdown()
})

test('waiting for sync covers what was started, and ends with false on stop', async () => {
  const { factory, clock, stop, client } = producing()
  factory.informer(resources.pods)
  factory.start(stop.signal)
  factory.informer(resources.services)
  assert.equal(await factory.waitForCacheSync(stop.signal), true)
  client.onRequest = () => new Promise(() => {})
  factory.start(stop.signal)
  const types = factory.syncedTypes(stop.signal)
  await clock.advance(0)
  stop.abort()
  assert.deepEqual(
    [...(await types)].map(([type, synced]) => [type.resource, synced]),
    [
      ['pods', true],
      ['services', false],
    ],
  )
  assert.equal(await factory.waitForCacheSync(stop.signal), false)
})

test('after shutdown nothing can be started, and shutdown waits for what runs', async () => {
  const { factory, clock, stop } = producing()
  factory.informer(resources.pods)
  factory.start(stop.signal)
  await clock.advance(0)
  let ended = false
  const ending = factory.shutdown().then(() => (ended = true))
  await clock.advance(0)
  assert.equal(ended, false)
  const late = factory.informer(resources.services)
  factory.start(new AbortController().signal)
  await clock.advance(0)
  assert.equal(late.hasSynced(), false)
  stop.abort()
  await ending
  await factory.shutdown()
})

test('custom types are informed of like built-in ones', async () => {
  const { factory, clock, stop, client } = producing()
  client.put(widgets, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { namespace: 'x', name: 'w' },
    spec: { size: 3 },
  } as never)
  const informer = factory.informer(widgets)
  factory.start(stop.signal)
  await clock.advance(0)
  assert.deepEqual(keysOf(informer.lister.list('x')), ['x/w'])
  assert.equal(client.requests[0]!.path, '/apis/example.com/v1/widgets')
  stop.abort()
})

test('a metadata factory asks for metadata only and takes in PartialObjectMetadata', async () => {
  const { factory, clock, stop, client } = producing({ metadataOnly: true })
  client.onRequest = ({ verb, options }) => {
    assert.equal(options.metadataOnly, true)
    if (verb !== 'watch' || !options.sendInitialEvents) return undefined
    const watch = client.openWatch(
      { ...resources.pods, kind: 'PartialObjectMetadata', group: 'meta.k8s.io' },
      undefined,
      {},
    )
    watch.send({
      type: 'ADDED',
      object: {
        apiVersion: 'meta.k8s.io/v1',
        kind: 'PartialObjectMetadata',
        metadata: { namespace: 'x', name: 'p' },
      },
    })
    watch.bookmark('5', { 'k8s.io/initial-events-end': 'true' })
    return watch
  }
  const informer = factory.informer(resources.pods)
  factory.start(stop.signal)
  await clock.advance(0)
  assert.deepEqual(keysOf(informer.lister.list('x')), ['x/p'])
  stop.abort()
})

test('namespace, selectors, resync and transform are those of the factory', async () => {
  const { factory, clock, stop, client } = producing({
    namespace: 'x',
    labelSelector: 'a=b',
    resyncMs: ({ resource }) => (resource === 'pods' ? 2_000 : 0),
    transform: (object) => ({ ...object, metadata: { ...object.metadata, labels: { t: 'y' } } }),
  })
  const labels = { a: 'b' }
  client.put(resources.pods, { metadata: { namespace: 'x', name: 'p', labels } })
  client.put(resources.pods, { metadata: { namespace: 'x', name: 'unlabelled' } })
  client.put(resources.pods, { metadata: { namespace: 'y', name: 'p', labels } })
  const informer = factory.informer(resources.pods)
  let resyncs = 0
  informer.addHandler({ onUpdate: () => void resyncs++ })
  factory.start(stop.signal)
  await clock.advance(4_000)
  assert.deepEqual(keysOf(informer.lister.list()), ['x/p'])
  assert.deepEqual(informer.lister.list()[0]!.metadata!.labels, { t: 'y' })
  assert.equal(client.requests[0]!.options.labelSelector, 'a=b')
  assert.equal(resyncs, 2)
  stop.abort()
})

test('with a name, informers report their metrics under it', async () => {
  const registry = new RecordingMetrics()
  const { factory, clock, stop, client } = producing({
    metrics: { registry, name: 'kube-controller-manager' },
  })
  client.put(resources.pods, { metadata: { namespace: 'x', name: 'p' } })
  factory.informer(resources.pods)
  factory.start(stop.signal)
  await clock.advance(0)
  client.watches[0]!.bookmark('12345678901234567890')
  await clock.advance(0)
  const labels = { name: 'kube-controller-manager', group: '', version: 'v1', resource: 'pods' }
  assert.equal(registry.value('informer_queued_items', labels), 0)
  assert.equal(registry.value('informer_store_resource_version', labels), 678901234567890)
  assert.equal(registry.observed('informer_processing_latency_seconds', labels).length, 2)
  stop.abort()
})

test('the resource of a metric is the kind with an s, as upstream has it', () => {
  const registry = new RecordingMetrics()
  const { factory } = producing({ metrics: { registry, name: 'm' } })
  for (const [type, resource] of [
    [resources.endpoints, 'endpointss'],
    [resources.storageclasses, 'storageclasss'],
    [resources.validatingadmissionpolicies, 'validatingadmissionpolicys'],
  ] as const) {
    factory.informer(type)
    const labels = { name: 'm', group: type.group, version: type.version, resource }
    assert.equal(registry.value('informer_queued_items', labels), 0)
  }
})

test('what an informer reports: what waits, the newest version that is a number, and times in seconds', () => {
  const registry = new RecordingMetrics()
  const metrics = informerMetrics(registry, 'm', resources.pods)
  const labels = { name: 'm', group: '', version: 'v1', resource: 'pods' }
  const [queued, version] = ['informer_queued_items', 'informer_store_resource_version']
  assert.equal(registry.value(queued, labels), 0)
  const now = { queued: 5, resourceVersion: '' }
  metrics.observe(() => now)
  const reported = (resourceVersion: string): number | undefined => {
    now.resourceVersion = resourceVersion
    return registry.value(version, labels)
  }
  assert.deepEqual([reported(''), reported('x'), reported('12')], [undefined, undefined, 12])
  assert.equal(registry.value(queued, labels), 5)
  metrics.processed(2_000)
  assert.deepEqual(registry.observed('informer_processing_latency_seconds', labels), [2])
})

test('the times of informers are counted in the buckets of client-go', () => {
  const registry = new RecordingMetrics()
  informerMetrics(registry, 'm', resources.pods)
  const { buckets } = registry.families.get(
    'informer_processing_latency_seconds',
  ) as HistogramOptions
  assert.deepEqual(buckets, [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
})

test('an informer is run once however often it is started, and its errors are told with its type', async () => {
  const logger = new RecordingLogger()
  const told: string[] = []
  const { factory, client, clock, stop } = producing({
    logger,
    watchList: false,
    onWatchError: ({ resource }, error) => told.push(`${resource}: ${(error as Error).message}`),
  })
  client.onRequest = () => {
    throw new Error('no')
  }
  factory.informer(resources.pods)
  factory.start(stop.signal)
  factory.start(stop.signal)
  await clock.advance(0)
  assert.ok(!logger.messages().some((message) => message.includes('not allowed')))
  assert.deepEqual(told, ['pods: no'])
  stop.abort()
})
