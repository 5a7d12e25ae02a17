/**
 * Metrics of the TTL-after-finished controller.
 * Contract: docs/behaviour/controllers/ttl-after-finished-controller.md, Metrics.
 */
import type { Histogram, MetricsRegistry } from '@gyropilot/foundation'

/** 0.1 s, doubled 13 times. */
const BUCKETS_SECONDS = Array.from({ length: 14 }, (_, power) => 0.1 * 2 ** power)

export function deletionDuration(metrics: MetricsRegistry): Histogram {
  const histogram = metrics.histogram({
    name: 'ttl_after_finished_controller_job_deletion_duration_seconds',
    help: 'The time it took to delete the job since it became eligible for deletion',
    buckets: BUCKETS_SECONDS,
  })
  histogram.initialize({})
  return histogram
}
