/** Contract: docs/behaviour/controllers/node-route-controller.md, Metrics. */
import type { Counter, MetricsRegistry } from '@gyropilot/foundation'

/** Passes that were started. */
export function routeSyncs(metrics: MetricsRegistry): Counter {
  return metrics.counter({
    name: 'route_controller_route_sync_total',
    help: 'Times that routes were synced with the cloud provider.',
  })
}
