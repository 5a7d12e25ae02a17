/** Contract: docs/behaviour/controllers/service-lb-controller.md, Metrics. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HistogramOptions } from '@gyropilot/foundation'
import { RecordingMetrics } from '@gyropilot/runtime/testing'
import { serviceLbMetrics } from './metrics.ts'

const DOUBLING = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384]

test('syncs of nodes and hosts are counted, and timed in seconds in fifteen buckets that double', () => {
  const metrics = new RecordingMetrics()
  const counted = serviceLbMetrics(metrics)
  counted.hostUpdateStarted()
  counted.nodeSyncFailed()
  counted.hostUpdateTook(2_000)
  counted.nodeSyncTook(3_000)
  assert.equal(metrics.value('service_controller_loadbalancer_sync_total'), 1)
  assert.equal(metrics.value('service_controller_nodesync_error_total'), 1)
  const timed = [
    ['service_controller_update_loadbalancer_host_latency_seconds', 2],
    ['service_controller_nodesync_latency_seconds', 3],
  ] as const
  for (const [name, seconds] of timed) {
    assert.deepEqual(metrics.observed(name), [seconds])
    assert.deepEqual((metrics.families.get(name) as HistogramOptions).buckets, DOUBLING)
  }
})
