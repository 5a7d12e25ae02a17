import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { NOW_MS, pod } from '../fixtures.ts'
import { deletionAgeRatios, sortingDeletionAgeRatio } from './deletion-age-ratio.ts'

test('the age ratio is per deleted ready pod: its age by that of the youngest ready pod, as integers', () => {
  const all = [
    pod({ ageSeconds: 100, readySeconds: 1 }),
    pod({ ageSeconds: 250, readySeconds: 1 }),
    pod({ ageSeconds: 10 }),
  ]
  assert.deepEqual(deletionAgeRatios(all, all, NOW_MS), [1, 2])
  assert.deepEqual(deletionAgeRatios([pod({ ageSeconds: 0, readySeconds: 0 })], all, NOW_MS), [])
  assert.deepEqual(deletionAgeRatios([pod()], [pod()], NOW_MS), [])
})

test('its buckets are those of the page', () => {
  const metrics = new PrometheusRegistry()
  sortingDeletionAgeRatio(metrics).observe(3)
  const bounds = [...metrics.expose().matchAll(/le="([^"]+)"/g)].map(([, bound]) => bound)
  assert.deepEqual(bounds, ['0.25', '0.5', '1', '2', '4', '8', '+Inf'])
})
