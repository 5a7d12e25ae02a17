/**
 * Metrics of the taint eviction controller.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md, Metrics.
 */
import type { MetricsRegistry } from '@gyropilot/foundation'

export interface EvictionMetrics {
  /** `durationMs`: from the time the pod was to go until it was deleted. */
  deleted(durationMs: number): void
}

export function evictionMetrics(metrics: MetricsRegistry): EvictionMetrics {
  const prefix = 'taint_eviction_controller_pod_deletion'
  const deletions = metrics.counter({
    name: `${prefix}s_total`,
    help: 'Total number of Pods deleted by TaintEvictionController since its start.',
  })
  const duration = metrics.histogram({
    name: `${prefix}_duration_seconds`,
    help: 'Latency, in seconds, between the time when a taint effect has been activated for the Pod and its deletion via TaintEvictionController.',
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240],
  })
  return {
    deleted(durationMs) {
      deletions.increment()
      duration.observe(durationMs / 1000)
    },
  }
}
