import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '@gyropilot/schema/objects'
import { autoscalerFromStored, autoscalerToStored } from './autoscaler-conversion.ts'

test('lists stored as null are read as empty', () => {
  const stored = {
    apiVersion: 'autoscaling/v2',
    metadata: { name: 'a' },
    spec: { maxReplicas: 3, metrics: null },
    status: { currentMetrics: null, conditions: null, desiredReplicas: 0 },
  }
  const view = autoscalerFromStored(stored)
  assert.equal(view['metadata'].annotations, undefined)
  assert.equal(view['spec'].targetCPUUtilizationPercentage, undefined)
})

test('a CPU target goes both ways', () => {
  const draft = {
    metadata: { name: 'a' },
    spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 70 },
  }
  const view = autoscalerFromStored(autoscalerToStored(draft))
  assert.equal(view['spec'].targetCPUUtilizationPercentage, 70)
})

test('no replicas are written in v1 and left out in v2', () => {
  const stored = { spec: { maxReplicas: 1 }, status: { desiredReplicas: 2 } }
  const shown = autoscalerFromStored(stored) as Draft
  assert.deepEqual(shown['status'], { currentReplicas: 0, desiredReplicas: 2 })
  assert.deepEqual(autoscalerToStored(shown)['status'], { desiredReplicas: 2 })
  const some = { ...shown, status: { currentReplicas: 3, desiredReplicas: 2 } }
  assert.deepEqual(autoscalerToStored(some)['status'], { currentReplicas: 3, desiredReplicas: 2 })
})
