import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { startLoop, statusError, testContext } from '@gyropilot/runtime/testing'
import { DiscoverySync } from './discovery-sync.ts'
import { resourcesSyncErrors } from '../metrics.ts'
import { GraphMonitors } from './monitors.ts'

const ERRORS = 'garbagecollector_controller_resources_sync_error_total'
const VERBS = ['delete', 'get', 'list', 'watch']

const serving = (resource: string, kind: string, verbs = VERBS) => ({
  resource,
  responseKind: { kind },
  scope: 'Namespaced',
  verbs,
})
const PODS = serving('pods', 'Pod')
const WIDGETS = serving('widgets', 'Widget')
const WIDGET_TYPE: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}
const groups = (...items: object[]) => ({ kind: 'APIGroupDiscoveryList', items })
const group = (name: string, ...versions: object[]) => ({ metadata: { name }, versions })
const current = (version: string, ...list: object[]) => ({ version, resources: list })
const stale = (version: string) => ({ version, freshness: 'Stale', resources: [] })

/** A collector's discovery against documents that a test may change. */
function syncing(documents: Record<string, unknown>) {
  const context = testContext({ configuration: undefined })
  const { client, clock, logger, metrics, metadataInformers } = context
  const raw = async ({ path }: { path: string }): Promise<unknown> => {
    const document = documents[path]
    if (document instanceof Error) throw document
    return document
  }
  Object.assign(client, { raw })
  const started: ResourceType[] = []
  const { informer } = metadataInformers
  metadataInformers.informer = (type) => {
    started.push(type)
    return informer(type)
  }
  const monitors = new GraphMonitors(metadataInformers, () => {})
  const failures = resourcesSyncErrors(metrics)
  const sync = new DiscoverySync({ client, clock, logger, monitors, failures })
  return { ...context, sync, monitors, started, errors: () => metrics.value(ERRORS) ?? 0 }
}

const signal = new AbortController().signal
const ids = (types: readonly ResourceType[]) =>
  types.map(({ version, resource }) => `${version}/${resource}`)

test('every preferred resource from discovery with verbs delete, list, watch is monitored', async () => {
  const { sync, started } = syncing({
    '/api': groups(
      group(
        '',
        current('v1', PODS, serving('bindings', 'Binding', ['create']), serving('events', 'Event')),
      ),
    ),
    '/apis': groups(
      group(
        'example.com',
        current('v2', WIDGETS),
        current('v1', WIDGETS, serving('gears', 'Gear')),
      ),
    ),
  })
  await sync.sync(signal)
  assert.deepEqual(ids(started), ['v1/pods', 'v2/widgets', 'v1/gears'])
})

test('kinds are looked up at every served version, not at the preferred one alone', async () => {
  const { sync } = syncing({
    '/api': groups(group('', current('v1', PODS))),
    '/apis': groups(group('example.com', current('v2', WIDGETS), current('v1', WIDGETS))),
  })
  const kind = { apiVersion: 'example.com/v1', kind: 'Widget' }
  assert.equal(sync.typeOf(kind), undefined)
  await sync.sync(signal)
  assert.deepEqual(sync.typeOf(kind), WIDGET_TYPE)
  for (const apiVersion of ['example.com/v3', 'example.com', 'example.com/', '', 'a/b/c']) {
    assert.equal(sync.typeOf({ apiVersion, kind: 'Widget' }), undefined, apiVersion)
  }
  assert.deepEqual(sync.typeOf(kind, 'any'), WIDGET_TYPE)
  const former = { apiVersion: 'example.com/v0', kind: 'Widget' }
  assert.deepEqual(sync.typeOf(former, 'any'), { ...WIDGET_TYPE, version: 'v2' })
  assert.equal(sync.typeOf({ ...former, apiVersion: 'example.org/v1' }, 'any'), undefined)
})

test('Given a discovery failure for one group, then synced monitors of it stay and new ones are added', async () => {
  const documents: Record<string, unknown> = {
    '/api': groups(group('', current('v1', PODS))),
    '/apis': groups(group('example.com', current('v1', WIDGETS))),
  }
  const { sync, monitors, started } = syncing(documents)
  await sync.sync(signal)
  documents['/apis'] = groups(
    group('example.com', stale('v1')),
    group('apps', current('v1', serving('replicasets', 'ReplicaSet'))),
  )
  await sync.sync(signal)
  assert.equal(monitors.isSynced(WIDGET_TYPE), true)
  assert.equal(monitors.isSynced(resources.replicasets), true)
  assert.deepEqual(ids(started), ['v1/pods', 'v1/widgets', 'v1/replicasets'])
  documents['/apis'] = groups()
  await sync.sync(signal)
  assert.equal(monitors.isSynced(WIDGET_TYPE), false, 'gone for good')
  assert.equal(monitors.isSynced(resources.pods), true)
})

test('Empty result: count an error, change nothing', async () => {
  const documents: Record<string, unknown> = {
    '/api': groups(group('', current('v1', PODS))),
    '/apis': groups(),
  }
  const { sync, monitors, clock, errors } = syncing(documents)
  const { stop } = startLoop(sync, clock)
  await clock.advance(0)
  assert.equal(errors(), 0)
  documents['/api'] = groups()
  await clock.advance(30_000)
  assert.equal(errors(), 1)
  documents['/apis'] = statusError(503, 'ServiceUnavailable')
  await clock.advance(30_000)
  assert.equal(errors(), 2)
  assert.equal(monitors.isSynced(resources.pods), true)
  await stop()
})

test('Discovery loop, every 30s, first run at start; an equal result changes nothing', async () => {
  const documents: Record<string, unknown> = {
    '/api': groups(group('', current('v1', PODS))),
    '/apis': groups(),
  }
  const { sync, clock, started } = syncing(documents)
  const { stop } = startLoop(sync, clock)
  await clock.advance(0)
  assert.deepEqual(ids(started), ['v1/pods'])
  documents['/apis'] = groups(group('example.com', current('v1', WIDGETS)))
  await clock.advance(29_999)
  assert.deepEqual(ids(started), ['v1/pods'])
  await clock.advance(1)
  assert.deepEqual(ids(started), ['v1/pods', 'v1/widgets'])
  await clock.advance(30_000)
  assert.deepEqual(ids(started), ['v1/pods', 'v1/widgets'])
  await stop()
})

test('monitors that cannot be added: the set is not accepted, so it is tried again next time', async () => {
  const documents = { '/api': groups(group('', current('v1', PODS))), '/apis': groups() }
  const { sync, metadataInformers, monitors, clock, errors } = syncing(documents)
  const { informer } = metadataInformers
  metadataInformers.informer = () => {
    throw new Error('no informers today')
  }
  const { stop } = startLoop(sync, clock)
  await clock.advance(0)
  assert.deepEqual([errors(), monitors.isSynced(resources.pods)], [1, false])
  metadataInformers.informer = informer
  await clock.advance(30_000)
  assert.deepEqual([errors(), monitors.isSynced(resources.pods)], [1, true])
  await stop()
})

test('Wait up to 30s for all monitors to sync; on timeout count an error, but accept the set', async () => {
  const documents = { '/api': groups(group('', current('v1', PODS))), '/apis': groups() }
  const { sync, metadataInformers, started, clock, errors } = syncing(documents)
  const { informer } = metadataInformers
  metadataInformers.informer = (type) => {
    const real = informer(type)
    real.addHandler = () => ({
      hasSynced: () => false,
      whenSynced: (signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(false))),
      remove() {},
    })
    return real
  }
  const { stop } = startLoop(sync, clock)
  await clock.advance(29_999)
  assert.equal(errors(), 0)
  await clock.advance(1)
  assert.equal(errors(), 1)
  await clock.advance(120_000)
  assert.equal(errors(), 1, 'accepted: not waited for again')
  assert.deepEqual(ids(started), ['v1/pods'])
  await stop()
})
