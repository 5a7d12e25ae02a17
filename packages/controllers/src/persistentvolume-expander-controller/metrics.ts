/** Contract: docs/behaviour/controllers/persistentvolume-expander-controller.md, Metrics. */
import type { MetricsRegistry } from '@gyropilot/foundation'

export interface ExpansionMetrics {
  /** An expansion by this controller has ended. */
  expanded(plugin: string, ok: boolean, durationMs: number): void
}

export function expansionMetrics(metrics: MetricsRegistry): ExpansionMetrics {
  const duration = metrics.histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Storage operation duration',
    labels: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  })
  return {
    expanded(plugin, ok, durationMs) {
      const status = ok ? 'success' : 'fail-unknown'
      const labels = { volume_plugin: plugin, operation_name: 'expand_volume', status }
      duration.observe(durationMs / 1000, { ...labels, migrated: 'false' })
    },
  }
}
