/** Syncs whose outcome hangs on what exactly is measured, of which pods, and how it is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MetricSpec, MetricTarget, Pod } from '@gyropilot/api'
import type { Outcome } from '@gyropilot/runtime'
import { defaultHorizontalPodAutoscalerConfiguration } from './config.ts'
import { CPU, NOW, autoscaler, pod, scale, sync } from './fixtures.ts'
import type { Sync } from './fixtures.ts'
import { AutoscalerMemory } from './memory.ts'

const MINUTE_MS = 60_000
const IDLE_BEFORE = { replicas: 1, timeMs: Date.parse(NOW) - MINUTE_MS }

/** Nothing holds up a scale-down. */
function afterLow(): AutoscalerMemory {
  const memory = new AutoscalerMemory()
  memory.remember('ns/h', { recommendations: [IDLE_BEFORE], scaledUp: [], scaledDown: [] })
  return memory
}

function syncOf(spec: MetricSpec, given: Sync = {}) {
  return sync(autoscaler({ spec: { metrics: [spec] } }), { memory: afterLow(), ...given })
}

interface Usage {
  readonly cpu?: string
  readonly memory?: string
}

/** Usage of containers by pod, as the resource metrics API lists it. */
function using(
  usage: Readonly<Record<string, Readonly<Record<string, Usage>>>>,
  of = scale(3),
): Sync {
  const items = Object.entries(usage).map(([name, containers]) => ({
    metadata: { name },
    timestamp: NOW,
    window: '30s',
    containers: Object.entries(containers).map(([container, used]) => ({
      name: container,
      usage: used,
    })),
  }))
  return {
    onRead: ({ verb }) =>
      verb === 'get' ? { ok: true, object: of } : ({ ok: true, object: { items } } as Outcome),
  }
}

/** Each pod's one container. */
const each = (used: Usage) => using({ a: { c: used }, b: { c: used }, c: { c: used } })

const ofResource = (name: string, target: Partial<MetricTarget>): MetricSpec => ({
  type: 'Resource',
  resource: { name, target: target as MetricTarget },
})
const ofExternal = (target: Partial<MetricTarget>): MetricSpec => ({
  type: 'External',
  external: { metric: { name: 'queue' }, target: target as MetricTarget },
})

test('of a container resource the named container counts alone', () => {
  const metric: MetricSpec = {
    type: 'ContainerResource',
    containerResource: {
      name: 'cpu',
      container: 'c',
      target: { type: 'AverageValue', averageValue: '500m' },
    },
  }
  const used = { c: { cpu: '900m' }, side: { cpu: '5' } }
  const { did, status, events } = syncOf(metric, using({ a: used, b: used, c: used }))
  assert.deepEqual(did, ['scale 6', 'status'])
  assert.equal(events[0]?.message, 'New size: 6; reason: cpu resource above target')
  assert.deepEqual(status?.currentMetrics?.[0]?.containerResource?.current, {
    averageValue: '900m',
  })
})

test('averages of memory are told in powers of two, those of anything else in decimals', () => {
  const averageOf = (name: string, used: Usage) =>
    syncOf(ofResource(name, { type: 'AverageValue', averageValue: '1Gi' }), each(used)).status
      ?.currentMetrics?.[0]?.resource?.current
  assert.deepEqual(averageOf('memory', { memory: '2097152' }), { averageValue: '2Mi' })
  assert.deepEqual(averageOf('cpu', { cpu: '2097152' }), { averageValue: '2097152' })
})

test('External usage = sum of all items, and the status tells it whole or shared among the replicas there are', () => {
  const external = ['20', '30']
  const whole = syncOf(ofExternal({ type: 'Value', value: '25' }), { external })
  assert.deepEqual(whole.did, ['scale 6', 'status'])
  assert.deepEqual(whole.status?.currentMetrics?.[0]?.external?.current, { value: '50' })
  const shared = syncOf(ofExternal({ type: 'AverageValue', averageValue: '10' }), { external })
  assert.deepEqual(shared.did, ['scale 5', 'status'])
  assert.deepEqual(shared.status?.currentMetrics?.[0]?.external?.current, {
    averageValue: '16667m',
  })
})

/** Has just started, and is not ready. */
function starting(name: string): Pod {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: NOW }] as const
  return { ...pod(name), status: { phase: 'Running', startTime: NOW, conditions } }
}

test('cpu of a pod that starts does not count, its memory and its own metrics do', () => {
  const pods = [pod('a'), pod('b'), starting('c')]
  const target = { type: 'AverageValue', averageValue: '500m' }
  const used = using({
    a: { c: { cpu: '100m' } },
    b: { c: { cpu: '100m' } },
    c: { c: { cpu: '2' } },
  })
  const asMemory = using({
    a: { c: { memory: '100m' } },
    b: { c: { memory: '100m' } },
    c: { c: { memory: '2' } },
  })
  assert.deepEqual(syncOf(CPU, { ...used, pods }).did, ['scale 1', 'status'])
  assert.deepEqual(syncOf(ofResource('cpu', target), { ...used, pods }).did, ['scale 1', 'status'])
  assert.deepEqual(syncOf(ofResource('memory', target), { ...asMemory, pods }).did, [
    'scale 5',
    'status',
  ])
  const requesting = pods.map((each): Pod => ({
    ...each,
    spec: { containers: [{ name: 'c', resources: { requests: { memory: '1' } } }] },
  }))
  const utilized = ofResource('memory', { type: 'Utilization', averageUtilization: 50 })
  assert.deepEqual(syncOf(utilized, { ...asMemory, pods: requesting }).did, ['scale 5', 'status'])
  const path =
    '/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/pods/*/qps?labelSelector=app%3Dweb'
  const items = ['a', 'b', 'c'].map((name) => ({ describedObject: { name }, value: '20' }))
  const custom = {
    '/apis/custom.metrics.k8s.io': { preferredVersion: { version: 'v1beta2' } },
    [path]: { items },
  }
  const qps: MetricSpec = {
    type: 'Pods',
    pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } },
  }
  assert.deepEqual(syncOf(qps, { custom, pods }).did, ['scale 6', 'status'])
})

test('on the way down a pod without a metric is taken to use its request, or what is asked of it above that', () => {
  const pods = ['a', 'b', 'c', 'd'].map(pod)
  const toward = (averageUtilization: number, cpu: string) =>
    syncOf(ofResource('cpu', { type: 'Utilization', averageUtilization }), {
      ...using({ a: { c: { cpu } }, b: { c: { cpu } }, c: { c: { cpu } } }, scale(4)),
      pods,
    }).did
  // Three at 10 % and one at 100 %: 32 % of 80 % are two of four.
  assert.deepEqual(toward(80, '100m'), ['scale 2', 'status'])
  // Three at 100 % and one at 200 %: 125 % of 200 % are three of four.
  assert.deepEqual(toward(200, '1'), ['scale 3', 'status'])
})

test('series that add up to less than nothing on the way are all there is, of averages alone', () => {
  const of = (target: Partial<MetricTarget>, external: readonly string[]) =>
    syncOf(ofExternal(target), { external }).status?.currentMetrics?.[0]?.external?.current
  const average = { type: 'AverageValue', averageValue: '10' }
  const all = { averageValue: '9223372036854775807m' }
  for (const values of [['-5', '8'], ['8', '-9', '20'], ['-1'], ['9P', '9P']])
    assert.deepEqual(of(average, values), all)
  assert.deepEqual(of(average, ['8', '-5']), { averageValue: '1' })
  const value = { type: 'Value', value: '10' }
  assert.deepEqual(of(value, ['-5', '3']), { value: '-2' })
  assert.deepEqual(of(value, ['9P', '9P']), { value: '9223372036854775807m' })
})

test('of a value only pods that run and are ready are multiplied', () => {
  const unready = {
    ...starting('b'),
    status: { ...starting('b').status, startTime: '2025-01-01T00:00:00Z' },
  }
  const ended: Pod = { ...pod('c'), status: { ...pod('c').status, phase: 'Succeeded' } }
  const { did } = syncOf(ofExternal({ type: 'Value', value: '10' }), {
    external: ['40'],
    pods: [pod('a'), unready, ended],
  })
  assert.deepEqual(did, ['scale 4', 'status'])
})

test('a series is chosen by the selector of its metric', () => {
  const metric = { name: 'hits', selector: { matchLabels: { q: 'x' } } }
  const target = { type: 'Value', value: '1', averageValue: '1' }
  const object = { apiVersion: 'example.com/v1', kind: 'Namespace', name: 'front' }
  const custom = {
    '/apis/custom.metrics.k8s.io': { preferredVersion: { version: 'v1beta2' } },
  }
  const last = (spec: MetricSpec): string | undefined => syncOf(spec, { custom }).reads.at(-1)
  const base = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns'
  assert.equal(
    last({ type: 'Pods', pods: { metric, target } }),
    `${base}/pods/*/hits?labelSelector=app%3Dweb&metricLabelSelector=q%3Dx`,
  )
  // A namespace of another group is an object like any other.
  assert.equal(
    last({ type: 'Object', object: { metric, target, describedObject: object } }),
    `${base}/namespaces.example.com/front/hits?metricLabelSelector=q%3Dx`,
  )
  assert.equal(
    last({ type: 'External', external: { metric, target } }),
    'external.metrics.k8s.io/hits ns q=x',
  )
})

const none = 'neither a value target nor an average value target was set'
const targetless: readonly (readonly [MetricSpec, string])[] = [
  [
    ofResource('cpu', { type: 'Value', value: '1' }),
    'invalid resource metric source: neither an average utilization nor an average value target was set',
  ],
  [ofExternal({ type: 'Value' }), `invalid external metric source: ${none}`],
  [
    {
      type: 'Object',
      object: {
        metric: { name: 'hits' },
        describedObject: { apiVersion: 'v1', kind: 'Namespace', name: 'ns' },
        target: { type: 'Utilization', averageUtilization: 50 },
      },
    },
    `invalid object metric source: ${none}`,
  ],
]
for (const [spec, text] of targetless)
  test(`a ${spec.type} metric without a target that it can have is told so`, () => {
    const custom = {
      '/apis/custom.metrics.k8s.io': { preferredVersion: { version: 'v1beta2' } },
      '/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/metrics/hits': {
        items: [{ value: '1' }],
      },
    }
    const { events } = syncOf(spec, { usage: { a: 1 }, external: ['1'], custom })
    assert.equal(events[0]?.message, text)
  })

test('the target of the core group has no group', () => {
  const scaleTargetRef = { apiVersion: 'v1', kind: 'ReplicationController', name: 'web' }
  const { effects } = sync(autoscaler({ spec: { scaleTargetRef } }))
  assert.deepEqual(effects[0], {
    effect: 'kind',
    group: '',
    kind: 'ReplicationController',
    version: '',
  })
})

test('what was recommended earlier needs no reason of today', () => {
  const memory = new AutoscalerMemory()
  const recommendations = [{ replicas: 6, timeMs: Date.parse(NOW) }]
  memory.remember('ns/h', { recommendations, scaledUp: [], scaledDown: [] })
  const { events } = sync(autoscaler(), { usage: { a: 500, b: 500, c: 500 }, memory })
  assert.equal(events[0]?.message, 'New size: 6; reason: ')
})

test('a wall clock that is set ends no window: what was recommended a moment ago still holds', () => {
  const memory = new AutoscalerMemory()
  const recommendations = [{ replicas: 3, timeMs: 0 }]
  memory.remember('ns/h', { recommendations, scaledUp: [], scaledDown: [] })
  const { did } = sync(autoscaler(), {
    usage: { a: 10, b: 10, c: 10 },
    memory,
    nowMs: Date.parse(NOW) + 3_600_000,
    settings: {
      configuration: defaultHorizontalPodAutoscalerConfiguration,
      elapsedMs: () => 15_000,
    },
  })
  assert.deepEqual(did, ['status'])
})

test('a wall clock that is set back does not keep a version of the custom metrics', () => {
  const memory = new AutoscalerMemory()
  memory.rememberCustomMetricsVersion('v1beta1', 15_000)
  const qps: MetricSpec = {
    type: 'Pods',
    pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } },
  }
  const { did } = sync(autoscaler({ spec: { metrics: [qps] } }), {
    memory,
    nowMs: 0,
    custom: { '/apis/custom.metrics.k8s.io': { preferredVersion: { version: 'v1beta2' } } },
    settings: { elapsedMs: () => 15_000 },
  })
  assert.equal(memory.customMetricsVersion(15_001), 'v1beta2')
  assert.ok(did.length > 0)
})

test('a target at its maximum is measured like any other', () => {
  const { conditions } = sync(autoscaler({ spec: { maxReplicas: 3 } }), {
    usage: { a: 900, b: 900, c: 900 },
  })
  assert.deepEqual(conditions.slice(1), [
    'ScalingActive True ValidMetricFound',
    'ScalingLimited True TooManyReplicas',
  ])
})

test('what came of a sync and of its metrics is told to those who count', () => {
  const steady = { a: 500, b: 500, c: 500 }
  assert.deepEqual(syncOf(CPU, { usage: steady }).synced, ['Resource none none', 'none none'])
  const down = syncOf(CPU, { usage: { a: 100, b: 100, c: 100 } })
  assert.deepEqual(down.synced, ['Resource scale_down none', 'scale_down none'])
  const metrics = [CPU, ofExternal({ type: 'Value', value: '1' })]
  const partly = sync(autoscaler({ spec: { metrics } }), { usage: { a: 900, b: 900, c: 900 } })
  assert.deepEqual(partly.synced, [
    'Resource scale_up none',
    'External none internal',
    'scale_up internal',
  ])
})

test('a target that somebody else took to nothing was not taken there by this controller', () => {
  const conditions = [
    { type: 'ScaledToZero', status: 'True', reason: 'x', message: '', lastTransitionTime: NOW },
  ]
  const { conditions: left } = sync(autoscaler({ status: { desiredReplicas: 0, conditions } }), {
    scale: scale(0),
  })
  assert.deepEqual(left, [
    'AbleToScale True SucceededGetScale',
    'ScalingActive False ScalingDisabled',
  ])
})

test('what nobody measured of pods that use more than they request is assumed in whole thousandths', () => {
  const names = Array.from({ length: 100 }, (_, index) => `p${index}`)
  const pods = names.map((name): Pod => {
    const one = pod(name)
    const requests = { requests: { cpu: '100m' } }
    return { ...one, spec: { containers: [{ name: 'c', resources: requests }] } }
  })
  const usage = Object.fromEntries(names.slice(0, 50).map((name) => [name, 93]))
  const target = ofResource('cpu', { type: 'Utilization', averageUtilization: 115 })
  const given = { pods, usage, scale: scale(100), memory: afterLow() }
  // (50 x 93 + 50 x 115) of 10,000 is 104 %, within a tenth of 115.
  const spec = { metrics: [target], maxReplicas: 200 }
  assert.deepEqual(sync(autoscaler({ spec }), given).did, ['status'])
})
