/** Contract: docs/behaviour/controllers/cronjob-controller.md, Metrics. */
import type { Histogram, MetricsRegistry } from '@gyropilot/foundation'

/** 1 s, doubled nine times. */
const BUCKETS_SECONDS: readonly number[] = Array.from({ length: 10 }, (_, index) => 2 ** index)

export function creationSkew(metrics: MetricsRegistry): Histogram {
  return metrics.histogram({
    name: 'cronjob_controller_job_creation_skew_duration_seconds',
    help: 'Time between when a cronjob is scheduled to be run, and when the corresponding job is created',
    buckets: BUCKETS_SECONDS,
    stability: 'STABLE',
  })
}
