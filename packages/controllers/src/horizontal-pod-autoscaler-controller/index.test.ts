import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { autoscaler } from './fixtures.ts'
import { horizontalPodAutoscalerLogic } from './index.ts'
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
