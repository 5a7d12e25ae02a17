/**
 * Metrics of the publisher.
 * Contract: docs/behaviour/controllers/root-ca-certificate-publisher-controller.md, Metrics.
 */
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
    name: 'root_ca_cert_publisher_sync_total',
    help: 'Number of namespace syncs happened in root ca cert publisher.',
    labels: ['code'],
  })
  const duration = metrics.histogram({
    name: 'root_ca_cert_publisher_sync_duration_seconds',
    help: 'Number of namespace syncs happened in root ca cert publisher.',
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

/**
 * 200 without an error, the code of a refusal, 500 for everything else, also for an error that only
 * wraps a refusal.
 */
export function syncCode(error: unknown): string {
  if (error === undefined) return '200'
  return error instanceof StatusError && error.status.code ? String(error.status.code) : '500'
}
