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
  const labels = ['driver_name']
  const processed = metrics.counter({
    name: `${PREFIX}_requests_processed_total`,
    help: 'Total number of ResourcePoolStatusRequests processed',
    labels,
  })
  const errors = metrics.counter({
    name: `${PREFIX}_request_processing_errors_total`,
    help: 'Total number of errors while processing ResourcePoolStatusRequests',
    labels,
  })
  const duration = metrics.histogram({
    name: `${PREFIX}_request_processing_duration_seconds`,
    help: 'Time taken to process ResourcePoolStatusRequests',
    labels,
    buckets: BUCKETS_SECONDS,
  })
  return (driver, failed, tookMs) => {
    const ofDriver = { driver_name: driver }
    processed.increment(ofDriver)
    if (failed) errors.increment(ofDriver)
    duration.observe(tookMs / 1000, ofDriver)
  }
}
