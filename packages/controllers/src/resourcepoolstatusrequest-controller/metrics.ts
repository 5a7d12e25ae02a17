/**
 * Metrics of the answers to requests about device pools.
 * Contract: docs/behaviour/controllers/resourcepoolstatusrequest-controller.md, Metrics.
 */
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { OnAnswered } from './reconcile.ts'

const PREFIX = 'resourcepoolstatusrequest_controller'
/** 1 ms, doubled 14 times. */
const BUCKETS_SECONDS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power)

export function answerMetrics(metrics: MetricsRegistry): OnAnswered {
  const processed = metrics.counter({
    name: `${PREFIX}_requests_processed_total`,
    help: 'Total number of ResourcePoolStatusRequests processed',
  })
  const errors = metrics.counter({
    name: `${PREFIX}_request_processing_errors_total`,
    help: 'Total number of errors while processing ResourcePoolStatusRequests',
  })
  const duration = metrics.histogram({
    name: `${PREFIX}_request_processing_duration_seconds`,
    help: 'Time taken to process ResourcePoolStatusRequests',
    buckets: BUCKETS_SECONDS,
  })
  return (driver, failed, tookMs) => {
    const labels = { driver_name: driver }
    processed.increment(labels)
    if (failed) errors.increment(labels)
    duration.observe(tookMs / 1000, labels)
  }
}
