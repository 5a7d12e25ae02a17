import assert from 'node:assert/strict'
import { test } from 'node:test'
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
