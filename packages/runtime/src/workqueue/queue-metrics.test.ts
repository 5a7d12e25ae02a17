import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import type { HistogramOptions } from '@gyropilot/foundation'
import { RecordingMetrics, testClock } from '../testing/index.ts'
import { WorkQueue } from './queue.ts'
import { RateLimitingQueue } from './rate-limiting-queue.ts'

const labels = { name: 'test' }

function measured() {
  const clock = testClock()
  const metrics = new RecordingMetrics()
  const of = new RateLimitingQueue({ clock, metrics, name: 'test' })
  return { clock, metrics, of, value: (name: string) => metrics.value(`workqueue_${name}`, labels) }
}

test('Given a fake clock, when add/get/done/re-add run, then each metric has the value of the table.', async () => {
  const { clock, metrics, of, value } = measured()
  of.add('x')
  assert.equal(value('adds_total'), 1)
  assert.equal(value('depth'), 1)
  of.add('x')
  assert.equal(value('adds_total'), 1, 'a duplicate is no add')
  await clock.advance(50)
  of.take()
  assert.equal(value('depth'), 0)
  assert.deepEqual(metrics.observed('workqueue_queue_duration_seconds', labels), [0.05])
  of.add('x')
  assert.equal(value('adds_total'), 2)
  assert.equal(value('depth'), 1, 'also while it is processing')
  await clock.advance(25)
  assert.equal(value('unfinished_work_seconds'), 0.025)
  assert.equal(value('longest_running_processor_seconds'), 0.025)
  of.done('x')
  assert.equal(value('adds_total'), 2, 'requeued by Done is no add')
  assert.deepEqual(metrics.observed('workqueue_work_duration_seconds', labels), [0.025])
  of.take()
  assert.deepEqual(metrics.observed('workqueue_queue_duration_seconds', labels), [0.05, 0.025])
})

test('each AddAfter and AddRateLimited counts as a retry, also without a delay', () => {
  const { of, value } = measured()
  of.addAfter('x', 0)
  of.addAfter('y', 10)
  of.addRateLimited('z')
  assert.equal(value('retries_total'), 3)
})

test('Given a shut down queue, then the gauges are no longer updated.', async () => {
  const { clock, of, value } = measured()
  of.add('x')
  of.take()
  await clock.advance(1_000)
  of.shutDown()
  await clock.advance(1_000)
  assert.equal(value('unfinished_work_seconds'), 1)
  assert.equal(value('longest_running_processor_seconds'), 1)
  of.add('y')
  assert.equal(value('adds_total'), 1)
  of.addAfter('z', 10)
  assert.equal(value('retries_total'), 0)
})

test('series exist with 0 when the queue is made, all BETA with the label name', () => {
  const { metrics, value } = measured()
  for (const name of [
    'depth',
    'adds_total',
    'retries_total',
    'unfinished_work_seconds',
    'longest_running_processor_seconds',
  ]) {
    assert.equal(value(name), 0, name)
  }
  for (const family of metrics.families.values()) {
    assert.equal(family.stability, 'BETA')
    assert.deepEqual(family.labels, ['name'])
  }
  assert.equal(metrics.families.size, 7)
})

test('histogram bounds are 10e-9 times powers of ten as floating point gives them', () => {
  const { metrics } = measured()
  for (const name of ['workqueue_queue_duration_seconds', 'workqueue_work_duration_seconds']) {
    const { buckets } = metrics.families.get(name) as HistogramOptions
    assert.deepEqual(
      buckets,
      [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01, 0.1, 1, 10],
    )
  }
})

test('two queues of one name share their series', () => {
  const clock = testClock()
  const metrics = new RecordingMetrics()
  const queues = [1, 2].map(() => new RateLimitingQueue({ clock, metrics, name: 'test' }))
  for (const queue of queues) queue.add('x')
  assert.equal(metrics.value('workqueue_depth', labels), 2)
  assert.equal(metrics.value('workqueue_adds_total', labels), 2)
})

test('a queue without a name has no metrics', () => {
  const metrics = new RecordingMetrics()
  new RateLimitingQueue({ clock: testClock(), metrics }).add('x')
  assert.equal(metrics.families.size, 0)
})

test('the bounds are exposed under the texts that dashboards select on', () => {
  const clock = testClock()
  const metrics = new PrometheusRegistry()
  const queue = new RateLimitingQueue({ clock, metrics, name: 'test' })
  queue.add('x')
  queue.take()
  queue.done('x')
  const bounds = [
    ...metrics.expose().matchAll(/workqueue_work_duration_seconds_bucket\{.*le="([^"]+)"/g),
  ]
  assert.deepEqual(
    bounds.map(([, text]) => text),
    [
      '1e-08',
      '1e-07',
      '1e-06',
      '9.999999999999999e-06',
      '9.999999999999999e-05',
      '0.001',
      '0.01',
      '0.1',
      '1',
      '10',
      '+Inf',
    ],
  )
})

test('both histograms show their series at 0 when the queue is made', () => {
  const registry = new PrometheusRegistry()
  void new RateLimitingQueue({ clock: testClock(), metrics: registry, name: 'fresh' })
  const text = registry.expose()
  for (const name of ['queue', 'work'])
    assert.match(text, new RegExp(`workqueue_${name}_duration_seconds_count\\{name="fresh"\\} 0`))
})

test('a queue that takes nothing for later shows no retries', () => {
  const metrics = new RecordingMetrics()
  const of = new WorkQueue({ clock: testClock(), metrics, name: 'plain' })
  assert.equal(of.length, 0)
  assert.equal(metrics.value('workqueue_retries_total', { name: 'plain' }), undefined)
  assert.equal(metrics.value('workqueue_adds_total', { name: 'plain' }), 0)
})
