import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLabelQuery, resources } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { answers, autoscaler, pod, scale } from './fixtures.ts'
import type { Sync } from './fixtures.ts'
import { horizontalPodAutoscalerController, horizontalPodAutoscalerLogic } from './index.ts'
import { AutoscalerMemory } from './memory.ts'
import { autoscalerMetrics } from './metrics.ts'

const GAUGE = 'horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers'

test('every event makes a key ready one period later; a deletion only forgets', () => {
  const context = testContext({ configuration: defaultControllersConfiguration })
  const { watches, rateLimiter, workers } = horizontalPodAutoscalerLogic(context)
  const [watch] = watches
  const later = [{ key: 'ns/h', afterMs: 15_000 }]
  assert.deepEqual([...watch!.onAdd!(autoscaler())], later)
  assert.deepEqual([...watch!.onUpdate!(autoscaler(), autoscaler())], later)
  assert.equal(context.metrics.value(GAUGE), 1)
  assert.deepEqual([...watch!.onDelete!(autoscaler())], [])
  assert.equal(context.metrics.value(GAUGE), 0)
  watch!.onAdd!(autoscaler())
  watch!.onDelete!(new DeletedFinalStateUnknown('ns/h', undefined))
  assert.equal(context.metrics.value(GAUGE), 0)
  assert.deepEqual(
    [watch!.type, watch!.resyncPeriodMs],
    [resources.horizontalpodautoscalers, 15_000],
  )
  assert.deepEqual([rateLimiter?.whenMs('x'), rateLimiter?.requeues('x'), workers], [15_000, 0, 5])
})

test('a period of nothing or less ends the start', () => {
  for (const [syncPeriodMs, text] of [
    [0, '0s'],
    [-1_000, '-1s'],
  ] as const) {
    const horizontalPodAutoscaler = {
      ...defaultControllersConfiguration.horizontalPodAutoscaler,
      syncPeriodMs,
    }
    const configuration = { ...defaultControllersConfiguration, horizontalPodAutoscaler }
    assert.throws(() => horizontalPodAutoscalerLogic(testContext({ configuration })), {
      code: 'AUTOSCALER_PERIOD_INVALID',
      exitCode: 2,
      message: `invalid sync period of autoscalers: ${text}`,
    })
  }
})

test('the decision of each autoscaler is shown while it is there, and not of one whose last sync ends after it', () => {
  const { metrics } = testContext({ configuration: defaultControllersConfiguration })
  const memory = new AutoscalerMemory()
  autoscalerMetrics(metrics, () => memory.desired)
  const shown = (name: string): number | undefined =>
    metrics.value('horizontal_pod_autoscaler_controller_desired_replicas', {
      namespace: 'ns',
      hpa_name: name,
    })
  for (const name of ['a', 'b']) memory.register(`ns/${name}`)
  memory.decided('ns/a', 3)
  memory.decided('ns/b', 4)
  memory.decided('ns/b', 5)
  assert.deepEqual([shown('a'), shown('b')], [3, 5])
  memory.unregister('ns/a')
  memory.decided('ns/a', 3)
  assert.deepEqual([shown('a'), shown('b')], [undefined, 5])
})

test('what a sync came to is shown of its autoscaler', () => {
  const { context, logic, sync } = wired()
  const [watch] = logic.watches
  watch!.onAdd!(autoscaler())
  assert.equal(logic.observe('ns/h'), undefined, 'the cache has pods alone')
  sync({ usage: { a: 900, b: 900, c: 900 } })
  const shown = context.metrics.value('horizontal_pod_autoscaler_controller_desired_replicas', {
    namespace: 'ns',
    hpa_name: 'h',
  })
  assert.equal(shown, 6)
})

test('an autoscaler whose last sync ends after it makes no other one ambiguous', () => {
  const memory = new AutoscalerMemory()
  const all = parseLabelQuery('')
  memory.register('ns/a')
  memory.unregister('ns/a')
  memory.select('ns/a', all)
  memory.register('ns/b')
  memory.select('ns/b', all)
  assert.deepEqual(memory.selecting('ns', [pod('a')]), ['ns/b'])
})

function wired(featureGates: Readonly<Record<string, boolean>> = {}) {
  const configuration = { ...defaultControllersConfiguration, featureGates }
  const cached = ['a', 'b', 'c'].map(pod)
  const context = testContext({ configuration, cached })
  const logic = horizontalPodAutoscalerLogic(context)
  const sync = (given: Sync, object = autoscaler()) => {
    const { result, writes } = drive(logic.reconcile(object), answers(given))
    return {
      result,
      scaled: writes.some((write) => 'subresource' in write && write.subresource === 'scale'),
    }
  }
  return { context, logic, sync }
}

test('name, alias and account are those of the page; the pods are waited for', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = horizontalPodAutoscalerController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'horizontal-pod-autoscaler-controller',
      ['horizontalpodautoscaling'],
      'horizontal-pod-autoscaler',
      true,
    ],
  )
  const { queueName, eventComponent, workers } = wired().logic
  assert.deepEqual(
    [queueName, eventComponent, workers],
    ['horizontalpodautoscaler', 'horizontal-pod-autoscaler', 5],
  )
  assert.deepEqual(defaultControllersConfiguration.horizontalPodAutoscaler, {
    concurrentSyncs: 5,
    syncPeriodMs: 15_000,
    downscaleStabilizationMs: 300_000,
    tolerance: 0.1,
    cpuInitializationMs: 300_000,
    initialReadinessDelayMs: 30_000,
  })
  assert.deepEqual(
    wired().logic.alsoAwait?.map((source) => (source as { type?: object }).type),
    [resources.pods],
  )
})

test('every key comes again one period later; what has failed by its retry, which takes as long', () => {
  const { sync } = wired()
  assert.deepEqual(sync({ usage: { a: 500, b: 500, c: 500 } }).result, { requeueAfterMs: 15_000 })
  assert.ok(sync({}).result?.error)
})

test('HPA deletion does not clear in-memory history until its pending key fires', () => {
  const { logic, sync } = wired()
  const steady = { usage: { a: 500, b: 500, c: 500 } }
  sync({ ...steady, scale: scale(6) })
  assert.equal(sync(steady).scaled, true, 'what there was a moment ago is kept')
  logic.forget!('ns/h')
  assert.equal(sync(steady).scaled, false)
})

test('with the gate HPAScaleToZero alone is a target of nothing computed', () => {
  const conditions = [
    { type: 'ScaledToZero', status: 'True', reason: 'x', message: '', lastTransitionTime: '' },
  ]
  const target = { type: 'Value', value: '1' }
  const spec = { metrics: [{ type: 'External', external: { metric: { name: 'q' }, target } }] }
  const object = autoscaler({ spec, status: { desiredReplicas: 0, conditions } })
  const given = { scale: scale(0), external: ['3'] }
  assert.equal(wired({ HPAScaleToZero: true }).sync(given, object).scaled, true)
  assert.equal(wired().sync(given, object).scaled, false)
})

test('the gates HPAConfigurableTolerance and PodLevelResources are on unless they are turned off', () => {
  const policies = [{ type: 'Pods', value: 9, periodSeconds: 15 }]
  const behavior = { scaleUp: { tolerance: '0.9', policies } }
  const tolerant = autoscaler({ spec: { behavior } })
  const busy = { usage: { a: 900, b: 900, c: 900 } }
  assert.equal(wired().sync(busy, tolerant).scaled, false)
  assert.equal(wired({ HPAConfigurableTolerance: false }).sync(busy, tolerant).scaled, true)
})

test('syncs and computations are counted by what came of them, with their seconds', () => {
  const { context, logic } = wired()
  const { metrics, clock } = context
  let nowMs = 7_000
  clock.monotonicMs = () => nowMs
  const given = answers({ usage: { a: 900, b: 900, c: 900 } })
  drive(logic.reconcile(autoscaler()), {
    ...given,
    onRead(read) {
      nowMs += 2_000
      return given.onRead?.(read)
    },
  })
  const PREFIX = 'horizontal_pod_autoscaler_controller_'
  const labels = { action: 'scale_up', error: 'none' }
  const ofMetric = { ...labels, metric_type: 'Resource' }
  assert.equal(metrics.value(`${PREFIX}reconciliations_total`, labels), 1)
  assert.equal(metrics.value(`${PREFIX}metric_computation_total`, ofMetric), 1)
  assert.deepEqual(metrics.observed(`${PREFIX}reconciliation_duration_seconds`, labels), [4])
  assert.deepEqual(metrics.observed(`${PREFIX}metric_computation_duration_seconds`, ofMetric), [4])
})

test('durations are in buckets from 1 ms, doubled', () => {
  const { metrics } = testContext({ configuration: defaultControllersConfiguration })
  autoscalerMetrics(metrics, () => new Map())
  for (const name of ['reconciliation', 'metric_computation']) {
    const family = metrics.families.get(
      `horizontal_pod_autoscaler_controller_${name}_duration_seconds`,
    )
    assert.ok(family !== undefined && 'buckets' in family)
    assert.deepEqual(
      [family.buckets.length, ...family.buckets.slice(0, 3)],
      [15, 0.001, 0.002, 0.004],
    )
    assert.match(
      family.help,
      name === 'reconciliation' ? /Also, the label 'error'/ : / The label 'error'/,
    )
  }
})
