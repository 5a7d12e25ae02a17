import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '../metrics-registry.ts'
import { exposeEventLoopMetrics } from './event-loop-metrics.ts'

test('turns are in the histogram by how late they make a timer', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const registry = new PrometheusRegistry()
  let nowMs = 1_000
  exposeEventLoopMetrics(registry, () => nowMs)
  // A timer may also be early, by less than a millisecond.
  for (const turnMs of [0, 4, -0.5, 30, 60]) {
    nowMs += 20 + turnMs
    t.mock.timers.tick(20)
  }
  const counts = registry
    .expose()
    .split('\n')
    .filter((line) => line.startsWith('gyropilot_event_loop_delay_seconds'))
    .map((line) => line.replace('gyropilot_event_loop_delay_seconds', ''))
  assert.deepEqual(counts, [
    '_bucket{le="0.005"} 3',
    '_bucket{le="0.01"} 3',
    '_bucket{le="0.02"} 3',
    '_bucket{le="0.05"} 4',
    '_bucket{le="0.1"} 5',
    '_bucket{le="0.2"} 5',
    '_bucket{le="0.5"} 5',
    '_bucket{le="1"} 5',
    '_bucket{le="+Inf"} 5',
    '_sum 0.094',
    '_count 5',
  ])
})
