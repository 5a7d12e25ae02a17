/** Texts as kube-controller-manager 1.36.2 wrote them beside an aggregated server of metrics. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HorizontalPodAutoscaler, MetricSpec, Pod } from '@gyropilot/api'
import type { Outcome } from '@gyropilot/runtime'
import { refused } from '../workload-support/fixtures.ts'
import { CPU, NOW, autoscaler, pod, scale, sync } from './fixtures.ts'
import type { Sync } from './fixtures.ts'
import { AutoscalerMemory } from './memory.ts'

const MINUTE_MS = 60_000

const messageOf = (type: string, object: HorizontalPodAutoscaler, given: Sync) =>
  sync(object, given).status?.conditions?.find((condition) => condition.type === type)?.message

/** What was recommended a minute ago. */
function remembered(replicas: number): AutoscalerMemory {
  const memory = new AutoscalerMemory()
  const recommendations = [{ replicas, timeMs: Date.parse(NOW) - MINUTE_MS }]
  memory.remember('ns/h', { recommendations, scaledUp: [], scaledDown: [] })
  return memory
}

const idle = { a: 100, b: 100, c: 100 }
const steady = { a: 500, b: 500, c: 500 }
const busy = { a: 900, b: 900, c: 900 }
const onePod = [{ type: 'Pods', value: 1, periodSeconds: 60 }]
const behavior = { scaleUp: { policies: onePod }, scaleDown: { policies: onePod } }
const afterLow = remembered(1)

const limits: readonly (readonly [string, Partial<HorizontalPodAutoscaler['spec']>, Sync])[] = [
  ['the desired count is within the acceptable range', {}, { usage: steady }],
  [
    'the desired replica count is more than the maximum replica count',
    { maxReplicas: 4 },
    { usage: busy },
  ],
  [
    'the desired replica count is less than the minimum replica count',
    { minReplicas: 2 },
    { usage: idle, memory: afterLow },
  ],
  [
    'the desired replica count is increasing faster than the maximum scale rate',
    { behavior },
    { usage: busy },
  ],
  [
    'the desired replica count is decreasing faster than the maximum scale rate',
    { behavior: { scaleDown: { ...behavior.scaleDown, stabilizationWindowSeconds: 0 } } },
    { usage: idle },
  ],
]
for (const [text, spec, given] of limits)
  test(`ScalingLimited: ${text}`, () => {
    const { status } = sync(autoscaler({ spec }), given)
    const limited = status?.conditions?.find(({ type }) => type === 'ScalingLimited')
    const isLimit = text !== 'the desired count is within the acceptable range'
    assert.deepEqual([limited?.status, limited?.message], [isLimit ? 'True' : 'False', text])
  })

test('AbleToScale says what the recommendations before did', () => {
  const able = (object: HorizontalPodAutoscaler, given: Sync) =>
    messageOf('AbleToScale', object, given)
  assert.equal(able(autoscaler(), { usage: steady }), 'recommended size matches current size')
  const down = { scaleDown: { stabilizationWindowSeconds: 300 } }
  assert.equal(
    able(autoscaler({ spec: { behavior: down } }), { usage: idle, memory: remembered(3) }),
    'recent recommendations were higher than current one, applying the highest recent recommendation',
  )
  const up = { scaleUp: { stabilizationWindowSeconds: 300 } }
  assert.equal(
    able(autoscaler({ spec: { behavior: up } }), { usage: busy, memory: remembered(3) }),
    'recent recommendations were lower than current one, applying the lowest recent recommendation',
  )
  assert.equal(
    able(autoscaler(), { usage: busy }),
    'the HPA controller was able to update the target scale to 6',
  )
  assert.equal(
    able(autoscaler(), { scale: scale(0) }),
    "the HPA controller was able to get the target's current scale",
  )
})

test('a rescale that fails: the event, the condition and the error', () => {
  const { events, status, result } = sync(autoscaler(), {
    usage: busy,
    onWrite: (write) =>
      'subresource' in write && write.subresource === 'scale'
        ? refused(403, 'Forbidden', 'no')
        : undefined,
  })
  const reason = 'cpu resource utilization (percentage of request) above target'
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'FailedRescale',
      message: `New size: 6; reason: ${reason}; error: no`,
    },
  ])
  assert.equal(
    status?.conditions?.[0]?.message,
    'the HPA controller was unable to update the target scale: no',
  )
  assert.equal((result?.error as Error | undefined)?.message, 'failed to rescale ns/h: no')
})

test('ScalingActive: a target of nothing, a selector that is missing', () => {
  assert.equal(
    messageOf('ScalingActive', autoscaler(), { scale: scale(0) }),
    'scaling is disabled since the replica count of the target is zero',
  )
  const without = sync(autoscaler(), { scale: scale(3, '') })
  assert.equal(
    without.status?.conditions?.[1]?.message,
    "the HPA target's scale is missing a selector",
  )
  assert.equal(
    (without.result?.error as Error | undefined)?.message,
    'failed to compute desired number of replicas based on listed metrics: selector is required',
  )
})

const named = (metric: string, custom: Sync['custom'] = {}): Sync['custom'] => ({
  '/apis/custom.metrics.k8s.io': { preferredVersion: { version: 'v1beta2' } },
  [`/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/${metric}`]: { items: [] },
  ...custom,
})
const requestless = (name: string): Pod => ({ ...pod(name), spec: { containers: [{ name: 'c' }] } })
const ALL_AT_ONCE = { type: 'Percent', value: 100, periodSeconds: 15 }
const qps: MetricSpec = {
  type: 'Pods',
  pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } },
}
const queue: MetricSpec = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'Value', value: '30' } },
}
const other: MetricSpec = {
  type: 'ContainerResource',
  containerResource: {
    name: 'cpu',
    container: 'side',
    target: { type: 'Utilization', averageUtilization: 50 },
  },
}
const CUSTOM = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns'
/** One sample of the resource metrics API. */
const samples =
  (item: object): Sync['onRead'] =>
  ({ verb }) =>
    verb === 'get'
      ? { ok: true, object: scale(3) }
      : ({
          ok: true,
          object: {
            items: [
              {
                metadata: { name: 'a' },
                containers: [{ name: 'c', usage: { cpu: '1' } }],
                ...item,
              },
            ],
          } as object,
        } as Outcome)
const noUsage =
  'unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: '
const cpuFailed = 'failed to get cpu utilization: '
const failures: readonly (readonly [string, MetricSpec, Sync, string])[] = [
  [
    'no sample at all',
    CPU,
    { usage: {} },
    `${cpuFailed}unable to get metrics for resource cpu: no metrics returned from resource metrics API`,
  ],
  [
    'samples of other pods only',
    CPU,
    { usage: { z: 1 } },
    `${cpuFailed}no metrics returned matched known pods`,
  ],
  [
    'no pods',
    CPU,
    { usage: busy, pods: [] },
    `${cpuFailed}no pods returned by selector while calculating replica count`,
  ],
  [
    'a container without a request',
    CPU,
    { usage: busy, pods: ['a', 'b', 'c'].map(requestless) },
    `${cpuFailed}missing request for cpu in container c of Pod a`,
  ],
  [
    'a container that is nowhere',
    other,
    { usage: busy },
    `${cpuFailed}did not receive metrics for targeted pods (pods might be unready)`,
  ],
  [
    'no value of pods',
    qps,
    { custom: named('pods/*/qps?labelSelector=app%3Dweb') },
    'unable to get metric qps: no metrics returned from custom metrics API',
  ],
  [
    'no external value',
    queue,
    { external: [] },
    'unable to get external metric ns/queue/nil: no metrics returned from external metrics API',
  ],
  [
    'an external value, and no pods',
    queue,
    { external: ['7'], pods: [] },
    'unable to calculate ready pods: no pods returned by selector while calculating replica count',
  ],
  [
    'usage that is no number',
    CPU,
    { onRead: samples({ containers: [{ name: 'c', usage: { cpu: 'lots' } }] }) },
    `${cpuFailed}${noUsage}quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  ],
  [
    'a window that is no time',
    CPU,
    { onRead: samples({ window: 'soon' }) },
    `${cpuFailed}${noUsage}time: invalid duration "soon"`,
  ],
  [
    'a sample of no time',
    CPU,
    { onRead: samples({ timestamp: 'today' }) },
    `${cpuFailed}${noUsage}parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"`,
  ],
  [
    'a value of pods that is no number',
    qps,
    {
      custom: named('', {
        [`${CUSTOM}/pods/*/qps?labelSelector=app%3Dweb`]: {
          items: [{ describedObject: { name: 'a' }, value: 'x' }],
        },
      }),
    },
    `unable to get metric qps: unable to fetch metrics from custom metrics API: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  ],
  [
    'an external value that is no number',
    queue,
    { external: ['x'] },
    `unable to get external metric ns/queue/nil: unable to fetch metrics from external metrics API: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  ],
  ['a type that is none', { type: 'Weather' }, {}, 'unknown metric source type "Weather"'],
]
for (const [what, spec, given, text] of failures)
  test(`ScalingActive and the event of the metric: ${what}`, () => {
    const { events, status } = sync(autoscaler({ spec: { metrics: [spec] } }), given)
    assert.equal(events[0]?.message, text)
    assert.equal(
      status?.conditions?.[1]?.message,
      `the HPA was unable to compute the replica count: ${text}`,
    )
  })

test('ScaledToZero: who took all replicas away, and who did not', () => {
  const settings = { allowsZero: true }
  const spec = { minReplicas: 0, metrics: [queue] }
  const told = (external: string): string | undefined =>
    messageOf('ScaledToZero', autoscaler({ spec }), { settings, external: [external] })
  assert.equal(told('90'), 'the HPA controller did not scale the workload to zero')
  const none = { scaleDown: { stabilizationWindowSeconds: 0, policies: [ALL_AT_ONCE] } }
  const behavior = { ...none, scaleUp: {} }
  assert.equal(
    messageOf('ScaledToZero', autoscaler({ spec: { ...spec, behavior } }), {
      settings,
      external: ['0'],
    }),
    'the HPA controller scaled the workload to zero',
  )
})
