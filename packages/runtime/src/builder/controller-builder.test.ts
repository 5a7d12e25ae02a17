import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { GyropilotError } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '../informer.ts'
import { fakeInformers } from '../testing/index.ts'
import { buildController } from './controller-builder.ts'
import type { ControllerBuilder } from './controller-builder.ts'
import { enqueueMapped, enqueueObject } from './event-handlers.ts'
import type { WatchHandler } from './event-handlers.ts'
import {
  configMap,
  domains,
  managing,
  recording,
  reference,
  website,
  websites,
} from './fixtures.ts'
import { resourceVersionChanged, where } from './predicates.ts'
import { keyOfRequest, requestFor } from './request.ts'
import type { Request } from './request.ts'
import { EventChannel, channelSource, informerSource } from './sources.ts'

const invalid = (message: string) => (error: unknown) =>
  error instanceof GyropilotError &&
  error.code === 'CONTROLLER_INVALID' &&
  error.message === message

const BUILD_FAILURES: readonly (readonly [string, (builder: ControllerBuilder) => void, string])[] =
  [
    [
      'a second For',
      (builder) => builder.for(websites).for(domains),
      'For(...) should only be called once, could not assign multiple objects for reconciliation',
    ],
    [
      'Owns without For',
      (builder) => builder.named('a').owns(resources.configmaps),
      'Owns() can only be used together with For()',
    ],
    [
      'no watch at all',
      (builder) => builder.named('a'),
      'there are no watches configured, controller will never get triggered. Use For(), Owns(), Watches() or WatchesRawSource() to set them up',
    ],
    [
      'neither For nor a name',
      (builder) => builder.watches(resources.configmaps, () => []),
      'one of For() or Named() must be called',
    ],
  ]

test('Given Owns without For, or no watch at all, then Build fails', () => {
  for (const [what, plan, message] of BUILD_FAILURES) {
    const builder = buildController(managing().manager)
    plan(builder)
    assert.throws(() => builder.complete(() => {}), invalid(message), what)
  }
})

test('names are unique among controllers of one registry, or of one manager that counts nothing, unless validation is skipped', () => {
  const { manager } = managing()
  const build = (of = manager): ControllerBuilder => buildController(of).for(websites)
  for (const _ of ['one', 'another'])
    build(managing({ metrics: undefined }).manager).complete(() => {})
  assert.throws(
    () =>
      build()
        .withOptions({ maxConcurrentReconciles: Number.NaN })
        .complete(() => {}),
    { code: 'CONTROLLER_INVALID' },
  )
  // One that was refused has not taken the name.
  assert.equal(build().build(() => {}).name, 'website')
  assert.throws(
    () => build().complete(() => {}),
    invalid(
      'controller with name website already exists. Controller names must be unique to avoid multiple controllers reporting the same metric. This validation can be disabled via the SkipNameValidation option',
    ),
  )
  build()
    .withOptions({ skipNameValidation: true })
    .complete(() => {})
  build()
    .named('other')
    .complete(() => {})
  buildController(managing().manager)
    .for(websites)
    .complete(() => {})
})

test('events of the For type queue its own key; cluster-scoped objects have no namespace', async () => {
  const { manager, server, clock, start, stop } = managing()
  const { reconcile, taken } = recording()
  buildController(manager).for(websites).complete(reconcile)
  buildController(manager).for(domains).complete(reconcile)
  server.put(websites, website('a'))
  server.put(domains, { apiVersion: 'example.com/v1', kind: 'Domain', metadata: { name: 'd' } })
  await start()
  assert.deepEqual(taken().sort(), ['d', 'default/a'])
  server.put(websites, { ...website('a'), spec: { html: 'new' } })
  await clock.advance(0)
  assert.deepEqual(taken(), ['default/a'])
  server.remove(websites, website('a'))
  await clock.advance(0)
  assert.deepEqual(taken(), ['default/a'])
  await stop()
})

test('Given an owned object changes, then its owner is reconciled; with every-owner, all owners', async () => {
  for (const everyOwner of [false, true]) {
    const { manager, server, clock, start, stop } = managing()
    const { reconcile, taken } = recording()
    buildController(manager)
      .for(websites)
      .owns(resources.configmaps, { everyOwner })
      .complete(reconcile)
    await start()
    server.put(
      resources.configmaps,
      configMap('c', reference('first', { controller: true }), reference('second')),
    )
    await clock.advance(0)
    assert.deepEqual(taken(), everyOwner ? ['default/first', 'default/second'] : ['default/first'])
    server.put(resources.configmaps, configMap('c', reference('third', { controller: true })))
    await clock.advance(0)
    assert.deepEqual(
      taken(),
      everyOwner
        ? ['default/first', 'default/second', 'default/third']
        : ['default/first', 'default/third'],
      'owners of the old and of the new object',
    )
    server.remove(resources.configmaps, configMap('c'))
    await clock.advance(0)
    assert.deepEqual(taken(), ['default/third'])
    await stop()
  }
})

test('owners match by group and kind, whatever the version; those of other kinds are not ours', async () => {
  const { manager, server, start, stop } = managing()
  const { reconcile, taken } = recording()
  buildController(manager).for(websites).owns(resources.configmaps).complete(reconcile)
  const owned = (name: string, apiVersion: string, kind = 'Website') =>
    server.put(
      resources.configmaps,
      configMap(name, reference(name, { controller: true, apiVersion, kind })),
    )
  owned('old-version', 'example.com/v1alpha1')
  owned('other-group', 'example.org/v1')
  owned('core', 'v1')
  owned('other-kind', 'example.com/v1', 'Page')
  await start()
  assert.deepEqual(taken(), ['default/old-version'])
  await stop()
})

test('a cluster-scoped owner of a namespaced object has a key without namespace', async () => {
  const { manager, server, start, stop } = managing()
  const { reconcile, taken } = recording()
  buildController(manager).for(domains).owns(resources.configmaps).complete(reconcile)
  const owner = reference('d', { controller: true, kind: 'Domain' })
  server.put(resources.configmaps, configMap('c', owner))
  await start()
  assert.deepEqual(taken(), ['d'])
  await stop()
})

test('a mapping function queues what it answers for the old and the new object, each request once', async () => {
  const { manager, server, clock, start, stop } = managing()
  const added: string[] = []
  const mapped = enqueueMapped((object) =>
    (object.metadata?.labels?.['sites'] ?? '')
      .split(',')
      .map((name) => ({ namespace: 'default', name })),
  )
  const spied: WatchHandler = Object.fromEntries(
    Object.entries(mapped).map(([kind, handle]) => [
      kind,
      (event: never) =>
        handle(event, { add: (request: Request) => void added.push(keyOfRequest(request)) }),
    ]),
  )
  buildController(manager)
    .named('mapped')
    .watches(resources.configmaps, spied)
    .complete(() => {})
  const labelled = (sites: string) => ({
    ...configMap('c'),
    metadata: { namespace: 'default', name: 'c', labels: { sites } },
  })
  server.put(resources.configmaps, labelled('a,b,a'))
  await start()
  assert.deepEqual(added.splice(0), ['default/a', 'default/b'])
  server.put(resources.configmaps, labelled('b,c'))
  await clock.advance(0)
  assert.deepEqual(added, ['default/a', 'default/b', 'default/c'])
  await stop()
})

test('a mapping function may be asynchronous and read the cached client', async () => {
  const { manager, server, clock, start, stop } = managing()
  const { reconcile, taken } = recording()
  buildController(manager)
    .for(websites)
    .watches(resources.configmaps, async () => {
      const { items } = await manager.client.resource(websites, 'default').list()
      return items.map(requestFor)
    })
    .complete(reconcile)
  server.put(websites, website('a'))
  server.put(websites, website('b'))
  await start()
  taken()
  server.put(resources.configmaps, configMap('c'))
  await clock.advance(0)
  assert.deepEqual(taken().sort(), ['default/a', 'default/b'])
  await stop()
})

test('plain functions for create, update, delete and generic; an unknown final state is told', async () => {
  const informers = fakeInformers([configMap('first')])
  const seen: string[] = []
  const handler: WatchHandler = {
    create: ({ object, isInInitialList }) =>
      void seen.push(`create ${object.metadata?.name} ${isInInitialList}`),
    update: ({ previous, object }) =>
      void seen.push(`update ${previous.metadata?.name} ${object.metadata?.name}`),
    delete: ({ object, isFinalStateUnknown }) =>
      void seen.push(`delete ${object.metadata?.name} ${isFinalStateUnknown}`),
    generic: ({ object }) => void seen.push(`generic ${object.metadata?.name}`),
  }
  const { manager, clock, start, stop } = managing()
  const channel = new EventChannel()
  buildController(manager)
    .named('plain')
    .watchesRawSource(
      informerSource(() => informers.informer(resources.configmaps), 'fake', handler),
    )
    .watchesRawSource(channelSource(channel, handler))
    .complete(() => {})
  channel.send(website('early'))
  await start()
  informers.apply(resources.configmaps, configMap('second'))
  informers.apply(resources.configmaps, configMap('second'))
  informers.remove(resources.configmaps, configMap('second'))
  informers.remove(
    resources.configmaps,
    new DeletedFinalStateUnknown('default/first', configMap('first')),
  )
  informers.remove(resources.configmaps, new DeletedFinalStateUnknown('default/lost', undefined))
  channel.send(website('late'))
  await clock.advance(0)
  await stop()
  channel.send(website('too-late'))
  assert.deepEqual(seen, [
    'create first true',
    'generic early',
    'create second false',
    'update second second',
    'delete second false',
    'delete first true',
    'generic late',
  ])
})

test('a channel queues, filters, and goes on after a handler that throws', async () => {
  const { manager, clock, start, stop } = managing()
  const { reconcile, taken } = recording()
  const failed: string[] = []
  const channel = new EventChannel()
  const handler: WatchHandler = {
    generic({ object }, queue) {
      if (object.metadata?.name === 'bad') throw new Error('bad object')
      queue.add(requestFor(object))
    },
  }
  const notSecret = where<KubernetesObject>((object) => object.metadata?.name !== 'secret')
  buildController(manager)
    .named('channel')
    .watchesRawSource(channelSource(channel, handler, [notSecret], (_, key) => failed.push(key)))
    .complete(reconcile)
  await start()
  for (const name of ['a', 'secret', 'bad', 'b']) channel.send(website(name))
  await clock.advance(0)
  assert.deepEqual(taken(), ['default/a', 'default/b'])
  assert.deepEqual(failed, ['default/bad'])
  await stop()
})

test('predicates of the controller and of the watch must all pass; the cache holds everything all the same', async () => {
  const { manager, server, clock, start, stop } = managing()
  const { reconcile, taken } = recording()
  const inDefault = where((object: KubernetesObject) => object.metadata?.namespace === 'default')
  const named = where((object: KubernetesObject) => object.metadata?.name === 'a')
  buildController(manager)
    .for(websites, { predicates: [named] })
    .watches(resources.configmaps, enqueueObject())
    .withPredicates(inDefault, resourceVersionChanged)
    .complete(reconcile)
  server.put(websites, website('a'))
  server.put(websites, website('b'))
  server.put(websites, website('a', { namespace: 'other' }))
  server.put(resources.configmaps, configMap('c'))
  await start()
  assert.deepEqual(taken().sort(), ['default/a', 'default/c'])
  const cached = await manager.client.resource(websites).list()
  assert.equal(cached.items.length, 3)
  await clock.advance(11.1 * 3_600_000)
  assert.deepEqual(taken(), [], 'resyncs are dropped by resourceVersionChanged')
  await stop()
})

test('a metadata-only watch caches metadata, by the name of what it is of', async () => {
  const { manager, server, start, stop } = managing()
  const { reconcile, taken } = recording()
  buildController(manager)
    .for(websites)
    .owns(resources.configmaps, { metadataOnly: true })
    .complete(reconcile)
  server.put(resources.configmaps, configMap('c', reference('a', { controller: true })))
  await start()
  assert.deepEqual(taken(), ['default/a'])
  const asked = server
    .requested('watch')
    .filter(({ path }) => path.includes('configmaps'))
    .map(({ options }) => options['metadataOnly'])
  assert.deepEqual(asked, [true])
  const cached = await manager.client
    .resource(resources.configmaps, 'default')
    .get('c', { metadataOnly: true })
  assert.equal(cached.kind, 'ConfigMap')
  assert.equal(
    server.requested('watch').length,
    2,
    'metadata reads use the metadata cache; no second one is made',
  )
  await stop()
})
