import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { withoutMetrics } from './disabled-metrics.ts'

test('disabled metrics are not shown, and others are', () => {
  const metrics = withoutMetrics(new PrometheusRegistry(), ['secret_total'])
  metrics.counter({ name: 'secret_total', help: 'x' }).increment()
  metrics.counter({ name: 'open_total', help: 'x' }).increment()
  assert.doesNotMatch(metrics.expose(), /secret_total/)
  assert.match(metrics.expose(), /^open_total 1$/m)
})
