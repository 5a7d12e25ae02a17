/** Contract: docs/behaviour/controllers/persistentvolume-expander-controller.md, Metrics. */
import type { MetricsRegistry } from '@gyropilot/foundation'
import { storageOperationMetrics } from '../volume-support/operation-metrics.ts'

export interface ExpansionMetrics {
  /** An expansion by this controller has ended. */
  expanded(plugin: string, ok: boolean, durationMs: number): void
}

export function expansionMetrics(metrics: MetricsRegistry): ExpansionMetrics {
  const ended = storageOperationMetrics(metrics)
  return {
    expanded: (plugin, ok, durationMs) =>
      ended({ plugin, name: 'expand_volume', isMigrated: false }, ok, durationMs),
  }
}
