import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceQuota, ResourceType } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { ControllerContext } from '@gyropilot/runtime'
import { startLoop, statusError, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { PRIMARY_QUEUE, PRIORITY_QUEUE, RESOURCE_CHANGES_QUEUE } from './config.ts'
import { resourceQuotaController } from './index.ts'
import type { ResourceQuotaController } from './quota-controller.ts'

const VERBS = ['create', 'delete', 'get', 'list', 'watch']
const serving = (resource: string, kind: string) => ({
  resource,
  responseKind: { kind },
  scope: 'Namespaced',
  verbs: VERBS,
})
const groups = (...items: object[]) => ({ kind: 'APIGroupDiscoveryList', items })
const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}

const object = (apiVersion: string, kind: string, name: string, more: object = {}) =>
  ({ apiVersion, kind, metadata: { name, namespace: 'a' }, ...more }) as KubernetesObject
const pod = (name: string, more: object = {}) =>
  object('v1', 'Pod', name, { spec: { containers: [{ name: 'c' }] }, ...more })
const quota = (name: string, hard: Readonly<Record<string, string>>, status?: object) =>
  object('v1', 'ResourceQuota', name, {
    spec: { hard },
    ...(status && { status }),
  }) as ResourceQuota

interface Settings {
  readonly cached?: readonly KubernetesObject[]
  readonly syncPeriodMs?: number
  readonly hasCore?: boolean
  readonly trace?: ControllerContext['trace']
}

/** A controller at work; `written` are the statuses since it was last asked, as the quota and its pods. */
async function working({
  cached = [],
  syncPeriodMs = 300_000,
  hasCore = true,
  trace,
}: Settings = {}) {
  const configuration = {
    ...defaultControllersConfiguration,
    resourceQuota: { concurrentResourceQuotaSyncs: 5, resourceQuotaSyncPeriodMs: syncPeriodMs },
  }
  const { name } = resourceQuotaController
  const context = testContext({ name, configuration, cached, trace })
  const { client, informers, clock } = context
  const documents: Record<string, unknown> = {
    '/api': groups({
      metadata: { name: '' },
      versions: [{ version: 'v1', resources: hasCore ? [serving('pods', 'Pod')] : [] }],
    }),
    '/apis': groups(),
  }
  Object.assign(client, { raw: async ({ path }: { path: string }) => documents[path] })
  for (const each of cached)
    if (each.kind === 'ResourceQuota') client.put(resources.resourcequotas, each)
  // The cache follows what is written.
  const statuses: string[] = []
  let refusals = 0
  client.onRequest = ({ verb, body }) => {
    if (verb === 'list' || verb === 'watch') return undefined
    if (refusals-- > 0) throw statusError(409, 'Conflict')
    const { metadata, status } = body as ResourceQuota
    statuses.push(`${metadata?.name} ${JSON.stringify(status?.used)}`)
    informers.apply(resources.resourcequotas, body as ResourceQuota)
    return body
  }
  const controller = resourceQuotaController.build(context) as ResourceQuotaController
  const { stop: end } = startLoop(controller, clock)
  await clock.advance(0)
  return {
    ...context,
    documents,
    refuse: (count: number) => void (refusals = count),
    written: async (afterMs = 0) => {
      await clock.advance(afterMs)
      return statuses.splice(0)
    },
    end,
  }
}

test('a quota is counted at start, and when pods go; not when they come', async () => {
  const cached = [quota('q', { pods: '5' }), pod('p1'), pod('p2')]
  const { informers, written, end } = await working({ cached })
  assert.deepEqual(await written(), ['q {"pods":"2"}'])
  informers.apply(resources.pods, pod('p3'))
  assert.deepEqual(await written(1_000), [])
  informers.remove(resources.pods, pod('p3'))
  assert.deepEqual(await written(), [], 'as before')
  informers.remove(resources.pods, new DeletedFinalStateUnknown('a/p1', undefined))
  assert.deepEqual(await written(), ['q {"pods":"1"}'])
  informers.apply(resources.pods, pod('p2', { status: { phase: 'Succeeded' } }))
  assert.deepEqual(await written(), ['q {"pods":"0"}'])
  await end()
})

test('only quotas of the namespace that count such objects are looked at', async () => {
  const elsewhere = { ...quota('q', { pods: '5' }), metadata: { name: 'q', namespace: 'b' } }
  const cached = [quota('pods', { pods: '5' }), quota('secrets', { 'count/jobs': '5' }), elsewhere]
  const looked: string[] = []
  const { informers, written, end } = await working({ cached: [...cached, pod('p')] })
  await written()
  const { lister } = informers.informer(resources.resourcequotas)
  const { getByKey } = lister
  lister.getByKey = (key) => {
    looked.push(key)
    return getByKey.call(lister, key)
  }
  informers.remove(resources.pods, pod('p'))
  await written()
  assert.deepEqual([...new Set(looked)], ['a/pods'])
  await end()
})

test('full recalculation every 5m, first run at start; 0 disables the timer', async () => {
  for (const [syncPeriodMs, expected] of [
    [300_000, ['q {"pods":"1"}']],
    [0, []],
  ] as const) {
    const ready = quota('q', { pods: '5' }, { hard: { pods: '5' }, used: { pods: '0' } })
    const { informers, written, end } = await working({ cached: [ready], syncPeriodMs })
    informers.fill(pod('p'))
    assert.deepEqual(await written(299_999), [])
    assert.deepEqual(await written(1), expected)
    await end()
  }
})

test('only a changed spec.hard requeues an updated quota; a deleted one ends as no-op', async () => {
  const { informers, written, end } = await working({
    cached: [quota('q', { pods: '5' }), pod('p')],
  })
  assert.deepEqual(await written(), ['q {"pods":"1"}'])
  const status = { hard: { pods: '5' }, used: { pods: '9' } }
  informers.apply(resources.resourcequotas, quota('q', { pods: '5' }, status))
  assert.deepEqual(await written(1_000), [])
  informers.apply(resources.resourcequotas, quota('q', { pods: '6' }, status))
  assert.deepEqual(await written(), ['q {"pods":"1"}'])
  informers.remove(resources.resourcequotas, quota('q', { pods: '6' }))
  assert.deepEqual(await written(1_000), [])
  await end()
})

test('start waits for at least one monitor', async () => {
  const cached = [quota('q', { pods: '5' }), pod('p')]
  const { documents, written, end } = await working({ cached, hasCore: false })
  assert.deepEqual(await written(29_000), [])
  documents['/api'] = groups({
    metadata: { name: '' },
    versions: [{ version: 'v1', resources: [serving('pods', 'Pod')] }],
  })
  assert.deepEqual(await written(1_000), ['q {"pods":"1"}'])
  await end()
})

test('New CRDs are counted after the next discovery round (up to 30s), and until they are gone', async () => {
  const name = 'count/widgets.example.com'
  const { documents, metadataInformers, informers, written, end } = await working({
    cached: [quota('q', { [name]: '5' })],
  })
  assert.deepEqual(await written(), ['q {}'], 'nobody can count them')
  documents['/apis'] = groups({
    metadata: { name: 'example.com' },
    versions: [{ version: 'v1', resources: [serving('widgets', 'Widget')] }],
  })
  const widget = (each: string) => object('example.com/v1', 'Widget', each)
  metadataInformers.fill(widget('w1'), widget('w2'))
  await written(30_000)
  metadataInformers.remove(WIDGETS, widget('w1'))
  assert.deepEqual(await written(), [`q {"${name}":"1"}`])
  assert.equal(informers.informer(WIDGETS).lister.list().length, 0, 'watched by metadata')
  documents['/apis'] = groups()
  await written(30_000)
  metadataInformers.remove(WIDGETS, widget('w2'))
  informers.apply(resources.resourcequotas, quota('q', { [name]: '6' }))
  assert.deepEqual(await written(), [`q {"${name}":"0"}`])
  await end()
})

test('while the cache of a new resource fills nothing is counted', async () => {
  const cached = [quota('q', { pods: '5' })]
  const { documents, metadataInformers, informers, written, end } = await working({ cached })
  const widgets = metadataInformers.informer(WIDGETS)
  const { addHandler } = widgets
  const filled = Promise.withResolvers<true>()
  widgets.addHandler = (...given) => ({
    ...addHandler.apply(widgets, given),
    whenSynced: () => filled.promise,
  })
  documents['/apis'] = groups({
    metadata: { name: 'example.com' },
    versions: [{ version: 'v1', resources: [serving('widgets', 'Widget')] }],
  })
  await written(30_000)
  informers.apply(resources.resourcequotas, quota('q', { pods: '6' }))
  assert.deepEqual(await written(1_000), [])
  filled.resolve(true)
  assert.deepEqual(await written(), ['q {"pods":"0"}'])
  await end()
})

test('what fails is tried again with the rate limit of its queue', async () => {
  const { informers, refuse, logger, written, end } = await working({
    cached: [quota('q', { pods: '5' }, { hard: { pods: '5' }, used: { pods: '0' } })],
  })
  assert.deepEqual(await written(), [])
  refuse(2)
  informers.apply(resources.resourcequotas, quota('q', { pods: '7' }))
  assert.deepEqual(await written(14), [])
  assert.deepEqual(await written(1), ['q {"pods":"0"}'])
  assert.match(JSON.stringify(logger), /Error syncing resource quota, will retry/)
  // What succeeds is forgiven: the next failure is the first again.
  refuse(1)
  informers.apply(resources.resourcequotas, quota('q', { pods: '8' }))
  assert.deepEqual(await written(4), [])
  assert.deepEqual(await written(1), ['q {"pods":"0"}'])
  await end()
})

test('workqueue metrics under the three queue names', async () => {
  const { metrics, end } = await working({ cached: [quota('q', { pods: '5' })] })
  for (const name of [PRIMARY_QUEUE, PRIORITY_QUEUE])
    assert.equal(metrics.value('workqueue_adds_total', { name }), 1, name)
  assert.equal(metrics.value('workqueue_adds_total', { name: RESOURCE_CHANGES_QUEUE }) ?? 0, 0)
  await end()
})

test('whoever traces it is told why each sync began and what it came to', async () => {
  const traced: string[] = []
  const trace: NonNullable<ControllerContext['trace']> = {
    started: (_, key, reasons) => {
      const causes = reasons.map(({ cause, object: of }) => (of ? `${cause} ${of}` : cause))
      traced.push(`${key}: ${causes.join(', ')}`)
    },
    effect() {},
    finished: (_, key, { error }) =>
      void traced.push(`${key} ${error === undefined ? 'done' : 'failed'}`),
  }
  const cached = [quota('q', { pods: '5' }), pod('p1')]
  const { informers, refuse, written, end } = await working({ cached, trace })
  await written()
  const first = traced.splice(0)
  refuse(1)
  informers.remove(resources.pods, pod('p1'))
  await written(1_000)
  assert.deepEqual(first, ['a/q: add', 'a/q: resync', 'a/q done', 'a/q done'])
  assert.deepEqual(traced, ['a/q: delete pods a/p1', 'a/q failed', 'a/q: retry', 'a/q done'])
  await end()
})
