import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { autoscaler } from './fixtures.ts'
import { horizontalPodAutoscalerLogic } from './index.ts'

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
