import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import {
  allowedLabels,
  allowedLabelsProblem,
  filteredMetrics,
  manifestMapping,
} from './metric-filters.ts'
import type { MetricFilters } from './metric-filters.ts'

const filtered = (filters: Partial<MetricFilters>) =>
  filteredMetrics(new PrometheusRegistry(), {
    disabled: new Set(),
    allowed: new Map(),
    ...filters,
  })

test('disabled metrics are not shown, and others are', () => {
  const metrics = filtered({ disabled: new Set(['secret_total']) })
  metrics.counter({ name: 'secret_total', help: 'x' }).increment()
  metrics.counter({ name: 'open_total', help: 'x' }).increment()
  assert.doesNotMatch(metrics.expose(), /secret_total/)
  assert.match(metrics.expose(), /^open_total 1$/m)
  assert.match(metrics.expose(), /^disabled_metrics_total 1$/m)
})

test('values that are not allowed are shown as unexpected, and counted', () => {
  const allowed = allowedLabels(
    new Map([
      ['a_total,code', '200,404'],
      ['a_total,verb', ''],
      ['g,zone', 'here'],
      ['h_seconds,zone', 'here'],
    ]),
  )
  const metrics = filtered({ allowed })
  const labels = ['code', 'verb', 'free']
  const counter = metrics.counter({ name: 'a_total', help: 'x', labels })
  counter.increment({ code: '200', verb: '', free: 'anything' })
  counter.increment({ code: '500', verb: 'get', free: 'anything' }, 3)
  metrics.gauge({ name: 'g', help: 'x', labels: ['zone'] }).set(7, { zone: 'there' })
  const histogram = metrics.histogram({
    name: 'h_seconds',
    help: 'x',
    labels: ['zone'],
    buckets: [1],
  })
  histogram.initialize({ zone: 'here' })
  histogram.observe(2, { zone: 'there' })
  metrics.counter({ name: 'other_total', help: 'x', labels: ['code'] }).increment({ code: '500' })
  const lines = metrics.expose().split('\n')
  for (const line of [
    'a_total{code="200",free="anything",verb=""} 1',
    'a_total{code="unexpected",free="anything",verb="unexpected"} 3',
    'g{zone="unexpected"} 7',
    'h_seconds_count{zone="here"} 0',
    'h_seconds_count{zone="unexpected"} 1',
    'other_total{code="500"} 1',
    'cardinality_enforcement_unexpected_categorizations_total 4',
  ])
    assert.ok(lines.includes(line), line)
})

test('without filters there is nothing in between, and the metrics about them show zero', () => {
  const registry = new PrometheusRegistry()
  const metrics = filteredMetrics(registry, { disabled: new Set(), allowed: new Map() })
  assert.equal(metrics, registry)
  for (const name of ['disabled', 'hidden', 'cardinality_enforcement_unexpected_categorizations'])
    assert.match(metrics.expose(), new RegExp(`^${name}(_metrics)?_total 0$`, 'm'))
})

test('keys name a metric and a label', () => {
  assert.equal(allowedLabelsProblem(new Map([['a_total,code', 'x']])), undefined)
  for (const key of ['a_total', 'a_total,1', ',code', 'a,b,c'])
    assert.match(
      allowedLabelsProblem(new Map([[key, 'x']]))!,
      /^metrics.allowListMapping: Invalid value: .* must have keys with format/,
    )
})

test('a manifest is a mapping of texts, and of nothing else', () => {
  const mapping = { 'a_total,code': '200,404' }
  assert.deepEqual([...manifestMapping(mapping)], Object.entries(mapping))
  assert.throws(
    () => manifestMapping({ allowListMapping: mapping }),
    /the values of "allowListMapping" are no text/,
  )
  assert.throws(() => manifestMapping(['a']), /the manifest is not a mapping/)
  assert.throws(() => manifestMapping({ 'a,b': [1] }), /the values of "a,b" are no text/)
})
