/** From events to keys: sources, handlers and queues by themselves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap, KubernetesObject } from '@gyropilot/api'
import { silentLogger, silentMetrics } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeInformer, RecordingMetrics, testClock } from '../testing/index.ts'
import { enqueueMapped, enqueueObject, enqueueOwner } from './event-handlers.ts'
import type { WatchHandler } from './event-handlers.ts'
import { buildController } from './controller-builder.ts'
import { configMap, managing, recording, reference, websites } from './fixtures.ts'
import { and, annotationsChanged } from './predicates.ts'
import type { Predicate } from './predicates.ts'
import { keyQueue } from './request-queue.ts'
import type { RequestQueue } from './request-queue.ts'
import { keyOfRequest, requestFor, requestOfKey } from './request.ts'
import { EventChannel, LOW_PRIORITY, channelSource, informerSource } from './sources.ts'

/** A queue that notes what is added to it. */
function noting(): { readonly added: string[]; readonly queue: RequestQueue } {
  const added: string[] = []
  return { added, queue: { add: ({ name }) => void added.push(name) } }
}

/** A source of config maps that has started, and the keys of its queue with their priorities. */
function watching(
  handler: WatchHandler<ConfigMap>,
  ...predicates: readonly Predicate<ConfigMap>[]
) {
  const informer = new FakeInformer<ConfigMap>(resources.configmaps)
  const queue = keyQueue(true, { clock: testClock(), name: 'q', metrics: silentMetrics })
  const source = informerSource(() => informer, 'config maps', handler, predicates)
  const stop = new AbortController()
  const logger = new RecordingLogger()
  const keys = async (): Promise<readonly string[]> => {
    const found: string[] = []
    while (queue.length > 0) {
      const { key, priority } = (await queue.get())!
      queue.done(key)
      found.push(priority === 0 ? key : `${key} ${priority}`)
    }
    return found
  }
  const start = () => source.start(queue, stop.signal, logger)
  return { informer, queue, source, stop, keys, logger, start }
}

const of = (name: string, resourceVersion: string): ConfigMap => {
  const made = configMap(name)
  return { ...made, metadata: { ...made.metadata, resourceVersion } }
}

test('what a mapping function answers at once is queued at once, what it promises later', async () => {
  const { added, queue } = noting()
  const plain = enqueueMapped((object) => [requestFor(object)])
  assert.equal(plain.create!({ object: configMap('a'), isInInitialList: false }, queue), undefined)
  assert.deepEqual(added.splice(0), ['a'])
  const mixed = enqueueMapped((object) => {
    const requests = [requestFor(object)]
    return object.metadata?.name === 'later' ? Promise.resolve(requests) : requests
  })
  await mixed.update!({ previous: configMap('now'), object: configMap('later') }, queue)
  assert.deepEqual(added, ['now', 'later'])
})

test('an object is queued for what happened outside too, and an owner only where it controls', () => {
  const { added, queue } = noting()
  void enqueueObject().generic!({ object: configMap('a') }, queue)
  assert.deepEqual(added.splice(0), ['a'])
  const owned = configMap('a', reference('one', { controller: true }), reference('other'))
  void enqueueOwner(websites).generic!({ object: owned }, queue)
  assert.deepEqual(added, ['one'])
})

test('any name comes back from its key, with slashes and without a namespace', () => {
  const known = new Set<string>()
  const names = ['a', 'a/b', '/a', 'a/', '/', 'a/b/c', 'system:a', '']
  for (const namespace of ['', 'a', 'b'])
    for (const name of names) {
      const key = keyOfRequest({ namespace, name })
      assert.deepEqual(requestOfKey(key), { namespace, name }, key)
      known.add(key)
    }
  assert.equal(known.size, 3 * names.length)
  assert.equal(keyOfRequest({ namespace: 'a', name: 'b' }), 'a/b')
  assert.equal(keyOfRequest({ namespace: '', name: 'b' }), 'b')
})

test('a predicate passes the events that it has no function for', async () => {
  const { informer, start, keys } = watching(enqueueObject(), {})
  start()
  informer.apply(of('a', '1'))
  informer.apply(of('a', '2'))
  assert.deepEqual(await keys(), ['default/a'])
  informer.apply(of('a', '3'))
  assert.deepEqual(await keys(), ['default/a'])
  informer.remove(of('a', '4'))
  assert.deepEqual(await keys(), ['default/a'])
  assert.equal(and({}).update!(of('a', '1'), of('a', '2')), true)
})

test('a predicate drops the events that its functions refuse', async () => {
  const { informer, start, keys } = watching(enqueueObject(), {
    update: () => false,
    delete: () => false,
  })
  start()
  informer.apply(of('a', '1'))
  assert.deepEqual(await keys(), ['default/a'])
  informer.apply(of('a', '2'))
  informer.remove(of('a', '3'))
  assert.deepEqual(await keys(), [])
})

test('annotations that come or go have changed', () => {
  const annotated: KubernetesObject = { metadata: { annotations: { a: '1' } } }
  const changed = (previous: KubernetesObject, current: KubernetesObject) =>
    annotationsChanged.update!(previous, current)
  assert.deepEqual(
    [
      changed(annotated, {}),
      changed({}, annotated),
      changed({}, {}),
      changed(annotated, annotated),
    ],
    [true, true, false, false],
  )
})

test('a resync goes behind what has changed', async () => {
  const { informer, start, keys } = watching(enqueueObject())
  start()
  for (const name of ['same', 'other']) informer.fill(of(name, '1'))
  informer.apply(of('same', '1'))
  informer.apply(of('other', '2'))
  assert.deepEqual(await keys(), ['default/other', `default/same ${LOW_PRIORITY}`])
})

test('a source has nothing to wait for before its start, and adds nothing after the stop', async () => {
  const { informer, source, stop, start, keys } = watching(enqueueObject())
  const { signal } = new AbortController()
  assert.equal(await source.whenSynced!(signal), false)
  start()
  assert.equal(await source.whenSynced!(signal), true)
  stop.abort()
  informer.apply(of('a', '1'))
  assert.deepEqual(await keys(), [])
})

test('a predicate, handler or mapper that throws loses its event and no other, and the log says which', async () => {
  const ofBad = (name: string | undefined): void => {
    if (name === 'bad') throw new Error('bad object')
  }
  const mapping = enqueueMapped<ConfigMap>((object) => {
    ofBad(object.metadata?.name)
    return [requestFor(object)]
  })
  const rejecting = enqueueMapped<ConfigMap>(async (object) => {
    ofBad(object.metadata?.name)
    return [requestFor(object)]
  })
  const checking = ({ metadata }: KubernetesObject): boolean => (ofBad(metadata?.name), true)
  const predicate = {
    create: checking,
    update: (_: ConfigMap, object: ConfigMap) => checking(object),
    delete: checking,
  }
  for (const [handler, ...predicates] of [[mapping], [rejecting], [enqueueObject(), predicate]] as [
    WatchHandler<ConfigMap>,
    ...Predicate<ConfigMap>[],
  ][]) {
    const { informer, logger, stop, start, keys } = watching(handler, ...predicates)
    start()
    for (const name of ['bad', 'good']) {
      informer.apply(of(name, '1'))
      informer.apply(of(name, '2'))
      informer.remove(of(name, '3'))
    }
    await new Promise(setImmediate)
    assert.deepEqual(await keys(), ['default/good'])
    const lost = { source: 'config maps', key: 'default/bad' }
    assert.deepEqual(
      logger.lines.map(({ fields }) => fields),
      [lost, lost, lost],
    )
    stop.abort()
  }
})

test('no time is lost with what is lost, in a manager; a channel is logged, too', async () => {
  const { manager, server, clock, logger, start, stop } = managing()
  const { reconcile, taken } = recording()
  const channel = new EventChannel()
  const mapping = enqueueMapped((object) => {
    if (object.metadata?.name === 'bad') throw new Error('bad object')
    return [requestFor(object)]
  })
  buildController(manager)
    .named('mapped')
    .watches(resources.configmaps, mapping)
    .watchesRawSource(channelSource(channel, mapping))
    .complete(reconcile)
  await start()
  for (const name of ['bad', 'good']) server.put(resources.configmaps, configMap(name))
  await clock.advance(0)
  assert.deepEqual(taken(), ['default/good'])
  for (const name of ['bad', 'good']) channel.send(configMap(name))
  await clock.advance(0)
  assert.deepEqual(taken(), ['default/good'])
  const lost = logger.lines.filter(({ message }) => message.endsWith('its event is lost'))
  assert.deepEqual(
    lost.map(({ fields: { source, key } }) => [source, key]),
    [
      ['kind source: ConfigMap', 'default/bad'],
      ['channel', 'default/bad'],
    ],
  )
  await stop()
})

test('a channel is heard one object after the other, and what was sent to others is not told again', async () => {
  const channel = new EventChannel<ConfigMap>()
  const release: (() => void)[] = []
  const begun: (string | undefined)[] = []
  const handler: WatchHandler<ConfigMap> = {
    async generic({ object }) {
      begun.push(object.metadata?.name)
      await new Promise<void>((resolve) => release.push(resolve))
    },
  }
  const queue = keyQueue(true, { clock: testClock(), name: 'q', metrics: silentMetrics })
  const { signal } = new AbortController()
  void channelSource(channel, handler, [{}]).start(queue, signal, silentLogger)
  channel.send(configMap('a'))
  channel.send(configMap('b'))
  assert.deepEqual(begun, ['a'])
  release.shift()!()
  await new Promise(setImmediate)
  assert.deepEqual(begun, ['a', 'b'])
  const late: unknown[] = []
  channel.listen((object) => late.push(object))
  assert.deepEqual(late, [])
})

test('what is sent while nobody listens is kept once for each object, as it was last', () => {
  const channel = new EventChannel<KubernetesObject>()
  const heard: KubernetesObject[] = []
  const listen = (): (() => void) => channel.listen((object) => heard.push(object))
  const site = { kind: 'Website', metadata: { namespace: 'default', name: 'a' } }
  for (let i = 1; i <= 1_000; i++) for (const name of ['a', 'b']) channel.send(of(name, `${i}`))
  channel.send(site)
  const stop = listen()
  assert.deepEqual(heard.splice(0), [of('a', '1000'), of('b', '1000'), site])
  for (const version of ['1', '2']) channel.send(of('a', version))
  assert.equal(heard.splice(0).length, 2, 'who listens is told of each')
  stop()
  channel.send(of('a', '3'))
  listen()
  assert.deepEqual(heard, [of('a', '3')])
})

test('the plain queue knows delays, and forgets failures', async () => {
  const clock = testClock()
  const metrics = new RecordingMetrics()
  const queue = keyQueue(false, { clock, name: 'q', metrics })
  queue.addWithOptions({ afterMs: 1_000 }, 'later')
  queue.addWithOptions({}, 'now')
  assert.equal(metrics.value('workqueue_retries_total', { name: 'q', controller: 'q' }), 1)
  assert.equal(queue.length, 1)
  await clock.advance(999)
  assert.equal(queue.length, 1)
  await clock.advance(1)
  assert.equal(queue.length, 2)
  queue.addWithOptions({ rateLimited: true }, 'failed')
  assert.equal(queue.requeues('failed'), 1)
  queue.forget('failed')
  assert.equal(queue.requeues('failed'), 0)
})
