import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HorizontalPodAutoscaler, MetricSpec } from '@gyropilot/api'
import type { Effect } from '@gyropilot/runtime'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { defaultHorizontalPodAutoscalerConfiguration } from './config.ts'
import { CPU, NOW, autoscaler, pod, scale, sync } from './fixtures.ts'
import type { Sync } from './fixtures.ts'
import { AutoscalerMemory } from './memory.ts'

const MINUTE_MS = 60_000

const busy = { a: 900, b: 900, c: 900 }

test('usage above target scales up, and the status says how it came', () => {
  const { did, status, conditions, events, result, synced } = sync(autoscaler(), { usage: busy })
  assert.deepEqual(did, ['scale 6', 'status'])
  assert.deepEqual(events, [
    {
      type: 'Normal',
      reason: 'SuccessfulRescale',
      message: 'New size: 6; reason: cpu resource utilization (percentage of request) above target',
    },
  ])
  assert.deepEqual(conditions, [
    'AbleToScale True SucceededRescale',
    'ScalingActive True ValidMetricFound',
    'ScalingLimited False DesiredWithinRange',
  ])
  assert.deepEqual(
    [status?.currentReplicas, status?.desiredReplicas, status?.lastScaleTime],
    [3, 6, NOW],
  )
  assert.deepEqual(status?.currentMetrics, [
    {
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '900m' } },
    },
  ])
  assert.equal(
    status?.conditions?.[1]?.message,
    'the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)',
  )
  assert.deepEqual([result, synced], [undefined, ['Resource scale_up none', 'scale_up none']])
})

test('usage below target scales down once no window holds it', () => {
  const memory = new AutoscalerMemory()
  memory.remember('ns/h', {
    recommendations: [{ replicas: 3, timeMs: Date.parse(NOW) - MINUTE_MS }],
    scaledUp: [],
    scaledDown: [],
  })
  const { did, events } = sync(autoscaler(), { usage: { a: 100, b: 100, c: 100 }, memory })
  assert.deepEqual(did, ['scale 1', 'status'])
  assert.equal(events[0]?.message, 'New size: 1; reason: All metrics below target')
})

test('Given 5 pods 100, 300, 500, 250, 250, target 50%, then 3 with empty history, 5 right after start', () => {
  const usage = { a: 100, b: 300, c: 500, d: 250, e: 250 }
  const given = { scale: scale(5), pods: Object.keys(usage).map(pod), usage }
  const memory = new AutoscalerMemory()
  const recommendations = [{ replicas: 5, timeMs: Date.parse(NOW) - 10 * MINUTE_MS }]
  memory.remember('ns/h', { recommendations, scaledUp: [], scaledDown: [] })
  assert.deepEqual(sync(autoscaler(), { ...given, memory }).did, ['scale 3', 'status'])
  const configuration = defaultHorizontalPodAutoscalerConfiguration
  const started = sync(autoscaler(), { ...given, settings: { configuration } })
  assert.deepEqual([started.did, started.status?.desiredReplicas], [['status'], 5])
})

test('right after start nothing goes down: the first sync remembers what there is', () => {
  const configuration = defaultHorizontalPodAutoscalerConfiguration
  const { did, conditions } = sync(autoscaler(), {
    usage: { a: 100, b: 100, c: 100 },
    settings: { configuration },
  })
  assert.deepEqual(did, ['status'])
  assert.equal(conditions[0], 'AbleToScale True ScaleDownStabilized')
})

test('Given 10 replicas and max 5, then 5 without metrics; 0 replicas: ScalingDisabled', () => {
  const many = sync(autoscaler({ spec: { maxReplicas: 5 } }), { scale: scale(10) })
  assert.deepEqual([many.did, many.reads], [['scale 5', 'status'], []])
  assert.equal(
    many.events[0]?.message,
    'New size: 5; reason: Current number of replicas above Spec.MaxReplicas',
  )
  assert.equal(many.status?.currentMetrics, undefined)
  const few = sync(autoscaler({ spec: { minReplicas: 4 } }))
  assert.deepEqual(few.did, ['scale 4', 'status'])
  assert.match(few.events[0]?.message ?? '', /below Spec.MinReplicas$/)
  const none = sync(autoscaler(), { scale: scale(0) })
  assert.deepEqual(none.did, ['status'])
  assert.deepEqual(none.conditions, [
    'AbleToScale True SucceededGetScale',
    'ScalingActive False ScalingDisabled',
  ])
  assert.deepEqual([none.status?.desiredReplicas, none.result], [0, undefined])
})

test('a target of 0 replicas, which the server leaves out of the status, is written once', () => {
  const { status } = sync(autoscaler(), { scale: scale(0) })
  const stored = JSON.parse(JSON.stringify({ ...status, currentMetrics: null }))
  assert.ok(!('currentReplicas' in stored))
  assert.deepEqual(sync(autoscaler({ status: stored }), { scale: scale(0) }).did, [])
})

const targets: readonly (readonly [
  string,
  Partial<HorizontalPodAutoscaler['spec']>,
  Sync,
  string,
  string,
])[] = [
  [
    'a kind that nobody serves',
    { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Foo', name: 'x' } },
    {},
    'no matches for kind "Foo" in group "apps"',
    'none internal',
  ],
  [
    'a version that is none',
    { scaleTargetRef: { apiVersion: 'a/b/c', kind: 'Foo', name: 'x' } },
    {},
    'unexpected GroupVersion string: a/b/c',
    'none spec',
  ],
  [
    'a target that is gone',
    {},
    { scale: refused(404, 'NotFound', 'deployments.apps "web" not found') },
    'deployments.apps "web" not found',
    'none internal',
  ],
]
for (const [what, spec, given, text, counted] of targets) {
  test(`without a scale there is nothing to do: ${what}`, () => {
    const { did, events, conditions, status, result, synced } = sync(autoscaler({ spec }), given)
    assert.deepEqual(did, ['status'])
    assert.deepEqual(events, [{ type: 'Warning', reason: 'FailedGetScale', message: text }])
    assert.deepEqual(conditions, ['AbleToScale False FailedGetScale'])
    assert.equal(
      status?.conditions?.[0]?.message,
      `the HPA controller was unable to get the target's current scale: ${text}`,
    )
    assert.equal((result?.error as Error | undefined)?.message, text)
    assert.deepEqual(synced, [counted])
  })
}

const missing = 'the server could not find the requested resource'
const pods: MetricSpec = {
  type: 'Pods',
  pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } },
}
const object: MetricSpec = {
  type: 'Object',
  object: {
    metric: { name: 'hits' },
    describedObject: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'front' },
    target: { type: 'Value', value: '2k' },
  },
}
const external: MetricSpec = {
  type: 'External',
  external: {
    metric: { name: 'queue', selector: { matchLabels: { q: 'x' } } },
    target: { type: 'AverageValue', averageValue: '30' },
  },
}
const externalValue: MetricSpec = {
  type: 'External',
  external: { ...external.external!, target: { type: 'Value', value: '30' } },
}
const container: MetricSpec = {
  type: 'ContainerResource',
  containerResource: {
    name: 'cpu',
    container: 'c',
    target: { type: 'Utilization', averageUtilization: 50 },
  },
}
const QUEUE =
  '&LabelSelector{MatchLabels:map[string]string{q: x,},MatchExpressions:[]LabelSelectorRequirement{},}'
const NO_CUSTOM =
  'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered'
const NO_CPU = `failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: ${missing}`
/** Texts as kube-controller-manager 1.36.2 has them. */
const failing: readonly (readonly [MetricSpec, string, string, string])[] = [
  [CPU, 'FailedGetResourceMetric', NO_CPU, `failed to get cpu resource metric value: ${NO_CPU}`],
  [
    container,
    'FailedGetContainerResourceMetric',
    NO_CPU,
    `failed to get c container metric value: ${NO_CPU}`,
  ],
  [
    pods,
    'FailedGetPodsMetric',
    `unable to get metric qps: ${NO_CUSTOM}`,
    `failed to get pods metric value: unable to get metric qps: ${NO_CUSTOM}`,
  ],
  [
    object,
    'FailedGetObjectMetric',
    `unable to get metric hits: Ingress on ns front/${NO_CUSTOM}`,
    `failed to get object metric value: unable to get metric hits: Ingress on ns front/${NO_CUSTOM}`,
  ],
  [
    external,
    'FailedGetExternalMetric',
    `unable to get external metric ns/queue/${QUEUE}: unable to fetch metrics from external metrics API: ${missing}`,
    `failed to get queue external metric value: failed to get queue external metric: unable to get external metric ns/queue/${QUEUE}: unable to fetch metrics from external metrics API: ${missing}`,
  ],
  [
    externalValue,
    'FailedGetExternalMetric',
    `unable to get external metric ns/queue/${QUEUE}: unable to fetch metrics from external metrics API: ${missing}`,
    `failed to get queue external metric value: failed to get external metric queue: unable to get external metric ns/queue/${QUEUE}: unable to fetch metrics from external metrics API: ${missing}`,
  ],
]
for (const [spec, reason, inner, first] of failing) {
  test(`a metric that cannot be had is told in upstream's words: ${spec.type} ${spec.external?.target.type ?? ''}`, () => {
    const { did, events, conditions, status, result, synced } = sync(
      autoscaler({ spec: { metrics: [spec] } }),
    )
    assert.deepEqual(did, ['status'])
    assert.deepEqual(events, [
      { type: 'Warning', reason, message: inner },
      {
        type: 'Warning',
        reason: 'FailedComputeMetricsReplicas',
        message: `invalid metrics (1 invalid out of 1), first error is: ${first}`,
      },
    ])
    assert.deepEqual(conditions, [
      'AbleToScale True SucceededGetScale',
      `ScalingActive False ${reason}`,
    ])
    assert.equal(
      status?.conditions?.[1]?.message,
      `the HPA was unable to compute the replica count: ${inner}`,
    )
    assert.deepEqual([status?.currentReplicas, status?.currentMetrics], [3, [{ type: '' }]])
    assert.ok(result?.error)
    assert.deepEqual(synced, [`${spec.type} none internal`, 'none internal'])
  })
}

test('Given one metric invalid, then scale up to 4 still happens, scale down does not', () => {
  const both = autoscaler({ spec: { metrics: [pods, CPU] } })
  const up = sync(both, { usage: { a: 600, b: 650, c: 650 } })
  assert.deepEqual(up.did, ['scale 4', 'status'])
  assert.ok(up.result?.error)
  assert.deepEqual(
    up.status?.currentMetrics?.map(({ type }) => type),
    ['', 'Resource'],
  )
  assert.equal(up.conditions[1], 'ScalingActive True ValidMetricFound')
  const down = sync(both, { usage: { a: 100, b: 100, c: 100 } })
  assert.deepEqual(down.did, ['status'])
  assert.equal(down.conditions[1], 'ScalingActive False FailedGetPodsMetric')
})

test('a metric that fails beside one that asks for what there is changes nothing but the error', () => {
  const { did, conditions, result } = sync(autoscaler({ spec: { metrics: [pods, CPU] } }), {
    usage: { a: 500, b: 500, c: 500 },
  })
  assert.deepEqual(did, ['status'])
  assert.equal(conditions[1], 'ScalingActive True ValidMetricFound')
  assert.ok(result?.error)
})

test('of equal proposals the first counts, of those for nothing the last', () => {
  const usage = busy
  const nameOf = (given: Sync): string | undefined =>
    sync(autoscaler({ spec: { metrics: [CPU, external] } }), given).status?.conditions?.[1]?.message
  assert.match(nameOf({ usage, external: ['170'] })!, /from cpu resource utilization/)
  assert.match(nameOf({ usage: { a: 0, b: 0, c: 0 }, external: ['0'] })!, /from external metric/)
})

test('of several metrics the largest proposal wins', () => {
  const spec = { metrics: [CPU, external] }
  const { did, events } = sync(autoscaler({ spec }), { usage: busy, external: ['100', '40'] })
  assert.deepEqual(did, ['scale 6', 'status'])
  assert.match(events[0]?.message ?? '', /cpu resource/)
  const turned = sync(autoscaler({ spec }), {
    usage: { a: 500, b: 500, c: 500 },
    external: ['170'],
  })
  assert.deepEqual(turned.did, ['scale 6', 'status'])
  assert.equal(
    turned.events[0]?.message,
    `New size: 6; reason: external metric queue(${QUEUE}) above target`,
  )
})

const DISCOVERY = { '/apis/custom.metrics.k8s.io': { preferredVersion: { version: 'v1beta1' } } }
const CUSTOM = '/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns'

test('metrics of pods and objects come from the custom metrics API', () => {
  const values = ['a', 'b', 'c'].map((name) => ({ describedObject: { name }, value: '20' }))
  const ofPods = sync(autoscaler({ spec: { metrics: [pods] } }), {
    custom: {
      ...DISCOVERY,
      [`${CUSTOM}/pods/*/qps?labelSelector=app%3Dweb`]: { items: values },
    },
  })
  assert.deepEqual(ofPods.did, ['scale 6', 'status'])
  assert.deepEqual(ofPods.status?.currentMetrics, [
    { type: 'Pods', pods: { metric: { name: 'qps' }, current: { averageValue: '20' } } },
  ])
  const path = `${CUSTOM}/ingresss.networking.k8s.io/front/hits`
  const custom = { ...DISCOVERY, [path]: { items: [{ value: '4k' }] } }
  const ofObject = sync(autoscaler({ spec: { metrics: [object] } }), { custom })
  assert.deepEqual(ofObject.did, ['scale 6', 'status'])
  assert.deepEqual(ofObject.status?.currentMetrics?.[0]?.object?.current, { value: '4k' })
  const two = { ...DISCOVERY, [path]: { items: [{ value: '1' }, { value: '2' }] } }
  assert.match(
    sync(autoscaler({ spec: { metrics: [object] } }), { custom: two }).events[0]?.message ?? '',
    /returned 2 results when we asked for exactly one$/,
  )
})

test('the metric of a namespace has a path of its own, and an average is over the replicas there are', () => {
  const described = { apiVersion: 'v1', kind: 'Namespace', name: 'ignored' }
  const target = { type: 'AverageValue', averageValue: '10' }
  const metric: MetricSpec = {
    type: 'Object',
    object: { metric: { name: 'hits' }, describedObject: described, target },
  }
  const path = `${CUSTOM}/metrics/hits`
  const { did, status, events } = sync(autoscaler({ spec: { metrics: [metric] } }), {
    scale: scale(3, 'app=web', 2),
    custom: { ...DISCOVERY, [path]: { items: [{ value: '55' }] } },
  })
  assert.deepEqual(did, ['scale 6', 'status'])
  assert.deepEqual(status?.currentMetrics?.[0]?.object?.current, { averageValue: '27500m' })
  // Upstream's words: such averages go by the name of external metrics, also when they fail.
  assert.equal(events[0]?.message, 'New size: 6; reason: external metric hits(nil) above target')
  const failed = sync(autoscaler({ spec: { metrics: [metric] } }), { custom: DISCOVERY })
  const [own, all] = failed.events.map(({ message }) => message)
  assert.match(own ?? '', /^unable to get metric hits: Namespace on ns ignored\/unable to fetch/)
  assert.match(
    all ?? '',
    /first error is: failed to get object metric value: failed to get hits object metric: unable to get metric hits/,
  )
})

test('a refusal without words is told of the object whose metric was asked for', () => {
  const about = (metric: MetricSpec) =>
    sync(autoscaler({ spec: { metrics: [metric] } }), { custom: DISCOVERY }).effects.flatMap(
      (effect) => (effect.effect === 'fetch' ? [effect.about] : []),
    )
  const group = 'custom.metrics.k8s.io'
  const resource = 'ingresss.networking.k8s.io'
  assert.deepEqual(about(object), [{ group, resource, name: 'front' }])
  assert.deepEqual(about(pods), [{ group, resource: 'pods', name: '*' }])
})

test('an object is found in whatever version its kind is served', () => {
  const described = { ...object.object!.describedObject, apiVersion: 'networking.k8s.io/v1beta1' }
  const metric: MetricSpec = {
    ...object,
    object: { ...object.object!, describedObject: described },
  }
  const { reads } = sync(autoscaler({ spec: { metrics: [metric] } }), { custom: DISCOVERY })
  assert.equal(reads.at(-1), `${CUSTOM}/ingresss.networking.k8s.io/front/hits`)
})

test('an object of a kind that nobody serves, in whatever version, is told in the words of the API of its metrics', () => {
  const said = (apiVersion: string, custom?: Sync['custom']): string | undefined => {
    const described = { apiVersion, kind: 'Foo', name: 'x' }
    const target = { type: 'Value', value: '1' }
    const metric: MetricSpec = {
      type: 'Object',
      object: { metric: { name: 'hits' }, describedObject: described, target },
    }
    return sync(autoscaler({ spec: { metrics: [metric] } }), { custom }).events[0]?.message
  }
  const unmapped = (kind: string, group: string): string =>
    `unable to get metric hits: Foo on ns x/unable to fetch metrics from custom metrics API: unable to map kind ${kind} to resource: no matches for kind "Foo" in group "${group}"`
  assert.equal(said('example.com/v9', DISCOVERY), unmapped('Foo.example.com', 'example.com'))
  assert.equal(said('v1', DISCOVERY), unmapped('Foo', ''))
  assert.equal(said('a/b/c', DISCOVERY), unmapped('Foo', ''))
  assert.equal(said('example.com/v9'), `unable to get metric hits: Foo on ns x/${NO_CUSTOM}`)
})

test('what was measured is not kept where replicas are decided without metrics', () => {
  const measured = { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1' } } }
  const status = { desiredReplicas: 3, currentReplicas: 3, currentMetrics: [measured] }
  for (const replicas of [0, 11]) {
    const { did, status: next } = sync(autoscaler({ status }), { scale: scale(replicas) })
    assert.deepEqual([did.at(-1), next?.currentMetrics], ['status', undefined])
  }
})

test('the version of the custom metrics API is remembered for a period', () => {
  const memory = new AutoscalerMemory()
  const spec = { metrics: [pods] }
  const given = { memory, custom: DISCOVERY }
  const discovered = (nowMs: number): boolean =>
    sync(autoscaler({ spec }), { ...given, nowMs }).reads.includes('/apis/custom.metrics.k8s.io')
  const nowMs = Date.parse(NOW)
  assert.deepEqual([nowMs, nowMs + 14_999, nowMs + 15_000].map(discovered), [true, false, true])
})

test('the custom metrics API is asked in the first version that can be read and is served at the moment', () => {
  const told = (...versions: readonly { readonly version: string; readonly stale?: boolean }[]) => {
    const custom = { '/apis/custom.metrics.k8s.io': { versions } }
    const { reads, status } = sync(autoscaler({ spec: { metrics: [pods] } }), { custom })
    const asked = reads.find((path) => path.startsWith(`${CUSTOM.split('/v1')[0]}/v`))
    return asked?.split('/')[3] ?? status?.conditions?.[1]?.message?.split('metrics API: ')[1]
  }
  assert.equal(told({ version: 'v1beta2' }, { version: 'v1beta1' }), 'v1beta2')
  assert.equal(told({ version: 'v1beta1' }, { version: 'v1beta2' }), 'v1beta1')
  assert.equal(told({ version: 'v1beta2', stale: true }, { version: 'v1beta1' }), 'v1beta1')
  const none = 'no known available metric versions found'
  assert.equal(told({ version: 'v1beta2', stale: true }), none)
  assert.equal(told({ version: 'v1beta3' }), none)
})

test('a selector that is missing ends the computation', () => {
  const without = sync(autoscaler(), { scale: scale(3, ''), usage: busy })
  assert.deepEqual(
    without.events.map(({ reason, message }) => [reason, message]),
    [
      ['SelectorRequired', 'selector is required'],
      ['FailedComputeMetricsReplicas', 'selector is required'],
    ],
  )
  assert.equal(without.conditions[1], 'ScalingActive False InvalidSelector')
  assert.deepEqual([without.did, without.reads], [['status'], []])
})

test('Given two HPAs on the same pods, then AmbiguousSelector', () => {
  const memory = new AutoscalerMemory()
  for (const key of ['ns/other', 'ns/h']) memory.register(key)
  sync(autoscaler({ name: 'other' }), { memory, usage: busy })
  const { events, conditions, status, did } = sync(autoscaler(), { memory, usage: busy })
  const text = 'pods by selector app=web are controlled by multiple HPAs: [ns/h ns/other]'
  assert.deepEqual(
    events.map(({ reason, message }) => [reason, message]),
    [
      ['AmbiguousSelector', text],
      ['FailedComputeMetricsReplicas', text],
    ],
  )
  assert.equal(conditions[1], 'ScalingActive False AmbiguousSelector')
  assert.deepEqual([status?.currentMetrics, did], [undefined, ['status']])
  memory.register('ns/other')
  assert.equal(sync(autoscaler(), { memory }).events[0]?.reason, 'AmbiguousSelector')
  memory.unregister('ns/other')
  assert.deepEqual(sync(autoscaler(), { memory, usage: busy }).did, ['scale 6', 'status'])
})

test('Selector overlap is judged per selected pod, so disjoint pods under overlapping selectors are fine', () => {
  const front = { ...pod('a'), metadata: { ...pod('a').metadata, labels: { tier: 'front' } } }
  const both = {
    ...pod('b'),
    metadata: { ...pod('b').metadata, labels: { tier: 'x', app: 'web' } },
  }
  const reasonWith = (objects: Sync['pods'], selector: string): string | undefined => {
    const memory = new AutoscalerMemory()
    for (const key of ['ns/other', 'ns/h']) memory.register(key)
    sync(autoscaler({ name: 'other' }), { memory, pods: objects, scale: scale(3, selector) })
    return sync(autoscaler(), { memory, pods: objects }).events[0]?.reason
  }
  assert.equal(reasonWith([front, both, pod('c')], 'tier'), 'AmbiguousSelector', 'one pod of both')
  assert.equal(reasonWith([front, pod('c')], 'tier'), 'FailedGetResourceMetric')
})

test('Given a conflict on the scale PUT, then it is retried and succeeds; unchanged status is not written', () => {
  let tries = 0
  const conflict = refused(409, 'Conflict', 'changed')
  const once: DriveOptions['onWrite'] = () => (++tries === 1 ? conflict : undefined)
  const { did, effects } = sync(autoscaler(), { usage: busy, onWrite: once })
  assert.deepEqual(did, ['scale 6', 'scale 6', 'status'])
  assert.equal(effects.filter(({ effect }: Effect) => effect === 'wait').length, 1)
  const steady = { usage: { a: 500, b: 500, c: 500 } }
  const settled = sync(autoscaler(), steady)
  const again = sync(autoscaler({ status: settled.status! }), steady)
  assert.deepEqual(again.did, [])
})

test('a rescale that fails is told, and its number is not claimed', () => {
  const onWrite: DriveOptions['onWrite'] = (write) =>
    'subresource' in write && write.subresource === 'scale'
      ? refused(403, 'Forbidden', 'no')
      : undefined
  const { did, events, conditions, status, result, synced } = sync(autoscaler(), {
    usage: busy,
    onWrite,
  })
  assert.deepEqual(did, ['scale 6', 'status'])
  assert.match(events[0]?.message ?? '', /^New size: 6; reason: .* above target; error: no$/)
  assert.equal(conditions[0], 'AbleToScale False FailedUpdateScale')
  assert.deepEqual([status?.desiredReplicas, status?.lastScaleTime], [0, undefined])
  assert.ok(result?.error)
  assert.equal(synced.at(-1), 'scale_up internal')
  const stubborn = sync(autoscaler(), {
    usage: busy,
    onWrite: (write) =>
      'subresource' in write && write.subresource === 'scale'
        ? refused(409, 'Conflict')
        : undefined,
  })
  assert.equal(stubborn.did.filter((text) => text === 'scale 6').length, 5)
})

test('a status that cannot be written is an event and an error', () => {
  const { events, result } = sync(autoscaler(), {
    usage: { a: 500, b: 500, c: 500 },
    onWrite: () => refused(409, 'Conflict', 'changed'),
  })
  assert.deepEqual(events, [{ type: 'Warning', reason: 'FailedUpdateStatus', message: 'changed' }])
  assert.match(
    (result?.error as Error | undefined)?.message ?? '',
    /^failed to update status for h: /,
  )
})

test('times of conditions change with their status only, reasons and messages always', () => {
  const old = '2025-01-01T00:00:00Z'
  const conditions = [
    { type: 'AbleToScale', status: 'True', reason: 'x', message: 'y', lastTransitionTime: old },
    { type: 'ScalingActive', status: 'False', reason: 'x', message: 'y', lastTransitionTime: old },
  ]
  const { status } = sync(autoscaler({ status: { desiredReplicas: 3, conditions } }), {
    usage: busy,
  })
  assert.deepEqual(
    status?.conditions?.map(({ reason, lastTransitionTime }) => [reason, lastTransitionTime]),
    [
      ['SucceededRescale', old],
      ['ValidMetricFound', NOW],
      ['DesiredWithinRange', NOW],
    ],
  )
})

test('a generation that somebody wrote into the status goes once there is a scale', () => {
  const status = { desiredReplicas: 3, currentReplicas: 3, observedGeneration: 7 }
  const of = (given: Sync) => sync(autoscaler({ status }), given).status?.observedGeneration
  assert.equal(of({ usage: busy }), undefined)
  assert.equal(of({}), undefined, 'without metrics too')
  assert.equal(of({ scale: refused(404, 'NotFound') }), 7)
})

test('tolerances of the behavior count, unless the gate is off', () => {
  const behavior = { scaleUp: { tolerance: '0.9', policies: [] } }
  const given = { usage: busy }
  assert.deepEqual(sync(autoscaler({ spec: { behavior } }), given).did, ['status'])
  const settings = { configurableTolerance: false }
  const policies = [{ type: 'Pods', value: 9, periodSeconds: 15 }]
  const off = { scaleUp: { tolerance: '0.9', policies } }
  assert.deepEqual(sync(autoscaler({ spec: { behavior: off } }), { ...given, settings }).did, [
    'scale 6',
    'status',
  ])
})

test('each direction has a tolerance of its own, else that of the flag', () => {
  const policies = [{ type: 'Pods', value: 9, periodSeconds: 15 }]
  const withTolerances = (scaleUp: object, scaleDown: object, milli: number) =>
    sync(
      autoscaler({
        spec: {
          behavior: {
            scaleUp: { policies, ...scaleUp },
            scaleDown: { policies, stabilizationWindowSeconds: 0, ...scaleDown },
          },
        },
      }),
      { usage: { a: milli, b: milli, c: milli }, memory: settledMemory() },
    ).did[0]
  assert.equal(withTolerances({ tolerance: '0.5' }, {}, 700), 'status')
  assert.equal(withTolerances({}, { tolerance: '0.5' }, 700), 'scale 5')
  assert.equal(withTolerances({}, { tolerance: '0.5' }, 300), 'status')
  assert.equal(withTolerances({ tolerance: '0.5' }, {}, 300), 'scale 2')
})

/** Of an autoscaler that was seen long ago, so that nothing holds what it has. */
function settledMemory(): AutoscalerMemory {
  const memory = new AutoscalerMemory()
  const recommendations = [{ replicas: 1, timeMs: Date.parse(NOW) - 60 * MINUTE_MS }]
  memory.remember('ns/h', { recommendations, scaledUp: [], scaledDown: [] })
  return memory
}

test('with the gate, nothing is a number like any other where other things than pods are measured', () => {
  const settings = { allowsZero: true }
  const spec = { minReplicas: 0, metrics: [external] }
  const memory = new AutoscalerMemory()
  const history = { scaledUp: [], scaledDown: [] }
  const recommendations = [{ replicas: 0, timeMs: Date.parse(NOW) - MINUTE_MS }]
  memory.remember('ns/h', { ...history, recommendations })
  const down = sync(autoscaler({ spec }), { settings, memory, external: ['0'] })
  assert.deepEqual(down.did, ['scale 0', 'status'])
  assert.ok(down.conditions.includes('ScaledToZero True ScaledToZero'))
  const up = sync(autoscaler({ spec, status: down.status! }), {
    settings,
    scale: scale(0),
    external: ['40'],
  })
  assert.deepEqual(up.did, ['scale 2', 'status'])
  assert.ok(up.conditions.includes('ScaledToZero False NotScaledToZero'))
  const byHand = sync(autoscaler({ spec }), { settings, scale: scale(0), external: ['40'] })
  assert.deepEqual(byHand.conditions[1], 'ScalingActive False ScalingDisabled')
})

test('what was taken to nothing comes back by its metrics alone, then to the least number too', () => {
  const settings = { allowsZero: true }
  const conditions = [
    {
      type: 'ScaledToZero',
      status: 'True',
      reason: 'ScaledToZero',
      message: '',
      lastTransitionTime: NOW,
    },
  ]
  const back = (spec: Partial<HorizontalPodAutoscaler['spec']>, given: Sync = {}) =>
    sync(autoscaler({ spec, status: { desiredReplicas: 0, conditions } }), {
      settings,
      scale: scale(0),
      ...given,
    }).did
  const path = `${CUSTOM}/ingresss.networking.k8s.io/front/hits`
  const custom = { ...DISCOVERY, [path]: { items: [{ value: '6k' }] } }
  assert.deepEqual(back({ minReplicas: 0, metrics: [CPU, object] }, { custom }), [
    'scale 3',
    'status',
  ])
  const idle = { minReplicas: 2, metrics: [external] }
  assert.deepEqual(back(idle, { external: ['0'] }), ['scale 2', 'status'])
  assert.deepEqual(back(idle), ['status'], 'without a metric it stays as it is')
  assert.deepEqual(back({ minReplicas: 2 }), ['status'], 'nor do pods bring any that are not there')
  assert.deepEqual(back({ minReplicas: 0 }), ['status'], 'pods that are not there bring none back')
})

test('who took all replicas away stays told while the gate is on', () => {
  const told = { type: 'ScaledToZero', reason: 'x', message: '', lastTransitionTime: NOW }
  const left = (value: string, allowsZero: boolean) =>
    sync(autoscaler({ status: { desiredReplicas: 0, conditions: [{ ...told, status: value }] } }), {
      settings: { allowsZero },
      scale: scale(0),
    }).conditions.includes(`ScaledToZero ${value} x`)
  assert.deepEqual(
    [left('False', true), left('Unknown', true), left('False', false), left('True', false)],
    [true, true, false, false],
  )
})
