/** Metrics of the publisher. Contract: docs/behaviour/controllers/clustertrustbundle-publisher.md, Metrics. */
import { StatusError } from '@gyropilot/client'
import type { MetricsRegistry } from '@gyropilot/foundation'

/** 1 ms, doubled 14 times. */
const BUCKETS_SECONDS: readonly number[] = Array.from(
  { length: 15 },
  (_, index) => 0.001 * 2 ** index,
)

export interface SyncMetrics {
  synced(durationMs: number, error: unknown): void
}

export function syncMetrics(metrics: MetricsRegistry): SyncMetrics {
  const total = metrics.counter({
    name: 'clustertrustbundle_publisher_sync_total',
    help: 'Number of syncs that occurred in cluster trust bundle publisher.',
    labels: ['code'],
  })
  const duration = metrics.histogram({
    name: 'clustertrustbundle_publisher_sync_duration_seconds',
    help: 'The time it took to sync a cluster trust bundle.',
    labels: ['code'],
    buckets: BUCKETS_SECONDS,
  })
  return {
    synced(durationMs, error) {
      const code = syncCode(error)
      total.increment({ code })
      duration.observe(durationMs / 1000, { code })
    },
  }
}

/** 200 without an error, the code of a refusal, also of one that is the cause of another error, 500 for everything else. */
export function syncCode(error: unknown): string {
  if (error === undefined) return '200'
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (at instanceof StatusError && at.status.code) return String(at.status.code)
  return '500'
}
