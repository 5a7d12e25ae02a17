/** How often and for how long publishers sync, by the outcome. */
import { StatusError } from '@gyropilot/client'
import type { MetricsRegistry } from '@gyropilot/foundation'

/** 1 ms, doubled 14 times. */
const BUCKETS_SECONDS: readonly number[] = Array.from(
  { length: 15 },
  (_, index) => 0.001 * 2 ** index,
)

interface SyncMetrics {
  synced(durationMs: number, error: unknown): void
}

export interface SyncMetricNames {
  /** `root_ca_cert_publisher`: what both names begin with. */
  readonly prefix: string
  readonly totalHelp: string
  readonly durationHelp: string
  /** The label of a sync that ended with this error. */
  codeOf(error: unknown): string
}

export function syncMetrics(metrics: MetricsRegistry, names: SyncMetricNames): SyncMetrics {
  const total = metrics.counter({
    name: `${names.prefix}_sync_total`,
    help: names.totalHelp,
    labels: ['code'],
  })
  const duration = metrics.histogram({
    name: `${names.prefix}_sync_duration_seconds`,
    help: names.durationHelp,
    labels: ['code'],
    buckets: BUCKETS_SECONDS,
  })
  return {
    synced(durationMs, error) {
      const code = names.codeOf(error)
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
