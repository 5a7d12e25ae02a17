/** Contract: docs/behaviour/controllers/garbage-collector-controller.md, Metrics. */
import type { Counter, MetricsRegistry } from '@gyropilot/foundation'

export function resourcesSyncErrors(metrics: MetricsRegistry): Counter {
  return metrics.counter({
    name: 'garbagecollector_controller_resources_sync_error_total',
    help: 'Number of garbage collector resources sync errors',
  })
}
