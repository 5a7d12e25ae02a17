import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HorizontalPodAutoscaler, MetricSpec, Scale } from '@gyropilot/api'
import type { Write } from '@gyropilot/runtime'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { CPU, NOW, autoscaler, scale, sync } from './fixtures.ts'
import { AutoscalerMemory } from './memory.ts'

// A PUT takes away whatever it does not carry: each write is compared as a whole.

const busy = { a: 900, b: 900, c: 900 }
const idle = { a: 100, b: 100, c: 100 }

const objectOf = (write: Write | undefined): unknown =>
  write?.verb === 'update' ? write.object : undefined

test('a scale keeps all but its number, and after a conflict what it is by then', () => {
  const first: Scale = { ...scale(3), spec: { replicas: 3 } }
  const later: Scale = {
    ...first,
    metadata: { ...first.metadata, resourceVersion: '4', labels: { a: 'b' } },
    spec: { replicas: 4 },
  }
  let reads = 0
  let tries = 0
  const onRead: DriveOptions['onRead'] = (read) => {
    if (read.verb === 'get') return { ok: true, object: ++reads === 1 ? first : later }
    return {
      ok: true,
      object: {
        items: Object.entries(busy).map(([name, milli]) => ({
          metadata: { name },
          timestamp: NOW,
          window: '30s',
          containers: [{ name: 'c', usage: { cpu: `${milli}m` } }],
        })),
      } as object,
    }
  }
  const { writes } = sync(autoscaler(), {
    onRead,
    onWrite: () => (++tries === 1 ? refused(409, 'Conflict', 'changed') : undefined),
  })
  assert.deepEqual(objectOf(writes[0]), { ...first, spec: { replicas: 6 } })
  assert.deepEqual(objectOf(writes[1]), { ...later, spec: { replicas: 6 } })
})

test('an autoscaler keeps all but what a sync says of it, and all of its status where there is no scale', () => {
  const status = {
    currentReplicas: 4,
    desiredReplicas: 5,
    currentMetrics: [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7 } } },
    ],
    lastScaleTime: '2025-01-01T00:00:00Z',
    observedGeneration: 2,
  }
  const object: HorizontalPodAutoscaler = { ...autoscaler({ status }) }
  const { writes } = sync(object, { scale: refused(404, 'NotFound') })
  const { conditions, ...kept } = (objectOf(writes[0]) as HorizontalPodAutoscaler).status!
  assert.deepEqual(kept, status)
  assert.equal(conditions?.length, 1)
  assert.deepEqual({ ...(objectOf(writes[0]) as object), status: object.status }, object)
  const found = sync(object, { usage: { a: 500, b: 500, c: 500 } })
  assert.equal(found.status?.lastScaleTime, '2025-01-01T00:00:00Z')
})

test('what a sync recommends is remembered, and what it came to is told', () => {
  const memory = new AutoscalerMemory()
  const told: number[] = []
  const settings = {
    memory,
    onDesired: (_: HorizontalPodAutoscaler, replicas: number) => void told.push(replicas),
  }
  sync(autoscaler(), { usage: busy, memory, settings })
  const timeMs = Date.parse(NOW)
  assert.deepEqual(memory.historyOf('ns/h').recommendations, [
    { replicas: 3, timeMs },
    { replicas: 6, timeMs },
  ])
  assert.deepEqual([told, memory.historyOf('ns/h').scaledUp], [[6], []])
})

test('with a behavior its steps are remembered too, in their direction', () => {
  const rule = { policies: [{ type: 'Pods', value: 9, periodSeconds: 60 }] }
  const behavior = { scaleUp: rule, scaleDown: { ...rule, stabilizationWindowSeconds: 0 } }
  const memory = new AutoscalerMemory()
  const spec = { behavior }
  sync(autoscaler({ spec }), { usage: busy, memory })
  sync(autoscaler({ spec }), { usage: idle, memory })
  const { scaledUp, scaledDown } = memory.historyOf('ns/h')
  const timeMs = Date.parse(NOW)
  assert.deepEqual(scaledUp, [{ change: 3, timeMs }])
  assert.deepEqual(scaledDown, [{ change: 2, timeMs }])
})

const value = { type: 'Value', value: '1' }
const averageValue = { type: 'AverageValue', averageValue: '10' }
const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const metric = { name: 'queue', selector: { matchLabels: { q: 'a' } } }
const found = (described: string) => ({
  items: [
    {
      describedObject: { name: described },
      metric,
      timestamp: NOW,
      windowSeconds: 60,
      value: '50',
    },
  ],
})
const selector = 'metricLabelSelector=q%3Da'
const base = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns'
const custom = {
  '/apis/custom.metrics.k8s.io': { preferredVersion: { version: 'v1beta2' } },
  [`${base}/pods/*/queue?labelSelector=app%3Dweb&${selector}`]: found('a'),
  [`${base}/deployments.apps/web/queue?${selector}`]: found('web'),
}

/** What the status says of a metric, and what the event calls it. */
const told: readonly (readonly [MetricSpec, object, string])[] = [
  [
    CPU,
    {
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '900m' } },
    },
    'cpu resource utilization (percentage of request)',
  ],
  [
    {
      type: 'ContainerResource',
      containerResource: { ...CPU.resource!, container: 'c' },
    },
    {
      type: 'ContainerResource',
      containerResource: {
        name: 'cpu',
        container: 'c',
        current: { averageUtilization: 90, averageValue: '900m' },
      },
    },
    'cpu container resource utilization (percentage of request)',
  ],
  [
    { type: 'Pods', pods: { metric, target: averageValue } },
    { type: 'Pods', pods: { metric, current: { averageValue: '50' } } },
    'pods metric queue',
  ],
  [
    { type: 'Object', object: { metric, describedObject: web, target: value } },
    { type: 'Object', object: { metric, describedObject: web, current: { value: '50' } } },
    'Deployment metric queue',
  ],
  [
    { type: 'Object', object: { metric, describedObject: web, target: averageValue } },
    {
      type: 'Object',
      object: { metric, describedObject: web, current: { averageValue: '16667m' } },
    },
    'external metric queue(&LabelSelector{MatchLabels:map[string]string{q: a,},MatchExpressions:[]LabelSelectorRequirement{},})',
  ],
  [
    { type: 'External', external: { metric, target: value } },
    { type: 'External', external: { metric, current: { value: '50' } } },
    'external metric queue(&LabelSelector{MatchLabels:map[string]string{q: a,},MatchExpressions:[]LabelSelectorRequirement{},})',
  ],
]
for (const [spec, status, name] of told) {
  test(`the status of a ${spec.type} metric says all of it, and the event calls it ${name.slice(0, 24)}`, () => {
    const given = { usage: busy, external: ['50'], custom }
    const { status: written, events } = sync(autoscaler({ spec: { metrics: [spec] } }), given)
    assert.deepEqual(written?.currentMetrics, [status])
    assert.match(events[0]?.message ?? '', /^New size: \d+; reason: /)
    assert.equal(events[0]?.message.replace(/^New size: \d+; reason: /, ''), `${name} above target`)
  })
}
