/** Contract: docs/behaviour/controllers/service-lb-controller.md, Metrics. */
import type { MetricsRegistry } from '@gyropilot/foundation'

/** 1 s to 4.5 h. */
const BUCKETS = Array.from({ length: 15 }, (_, index) => 2 ** index)

export interface ServiceLbMetrics {
  /** A provider is to be told of new nodes. */
  hostUpdateStarted(): void
  hostUpdateTook(durationMs: number): void
  nodeSyncTook(durationMs: number): void
  /** A Service whose balancer did not take the nodes. */
  nodeSyncFailed(): void
}

export function serviceLbMetrics(metrics: MetricsRegistry): ServiceLbMetrics {
  const updates = metrics.counter({
    name: 'service_controller_loadbalancer_sync_total',
    help: 'Updates of the hosts of load balancers.',
  })
  const failures = metrics.counter({
    name: 'service_controller_nodesync_error_total',
    help: 'Services whose load balancer could not be told of its nodes.',
  })
  const updateSeconds = metrics.histogram({
    name: 'service_controller_update_loadbalancer_host_latency_seconds',
    help: 'Seconds that an update of the hosts of one load balancer took.',
    buckets: BUCKETS,
  })
  const nodeSyncSeconds = metrics.histogram({
    name: 'service_controller_nodesync_latency_seconds',
    help: 'Seconds that a sync of the nodes of all load balancers took.',
    buckets: BUCKETS,
  })
  return {
    hostUpdateStarted: () => updates.increment(),
    hostUpdateTook: (durationMs) => updateSeconds.observe(durationMs / 1000),
    nodeSyncTook: (durationMs) => nodeSyncSeconds.observe(durationMs / 1000),
    nodeSyncFailed: () => failures.increment(),
  }
}
