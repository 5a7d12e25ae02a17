/** Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Metrics. */
import type { MetricsRegistry } from '@gyropilot/foundation'

/** Hears of every pod that was deleted. `tookMs`: since it was due. */
export type OnDeleted = (tookMs: number) => void

export function deletionMetrics(metrics: MetricsRegistry): OnDeleted {
  const prefix = 'device_taint_eviction_controller_pod_deletion'
  const deletions = metrics.counter({
    name: `${prefix}s_total`,
    help: 'Total number of Pods deleted by DeviceTaintEvictionController since its start.',
  })
  const duration = metrics.histogram({
    name: `${prefix}_duration_seconds`,
    help: "Latency, in seconds, between the time when a device taint effect has been activated and a Pod's deletion via DeviceTaintEvictionController.",
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240],
  })
  return (tookMs) => {
    deletions.increment()
    duration.observe(tookMs / 1000)
  }
}
