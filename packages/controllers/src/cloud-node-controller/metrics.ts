/** Contract: docs/behaviour/controllers/cloud-node-controller.md, Metrics. */
import type { Node } from '@gyropilot/api'
import type { Histogram, MetricsRegistry } from '@gyropilot/foundation'

const BUCKETS = [1, 4, 16, 64, 256, 1024]

export interface CloudNodeMetrics {
  taintRemoved(node: Node, nowMs: number): void
  synced(node: Node, nowMs: number): void
}

export function cloudNodeMetrics(metrics: MetricsRegistry): CloudNodeMetrics {
  const taintRemoval = metrics.histogram({
    name: 'node_controller_cloud_provider_taint_removal_delay_seconds',
    help: 'Seconds from the creation of a node to the removal of its taint by its cloud provider.',
    buckets: BUCKETS,
  })
  const firstSync = metrics.histogram({
    name: 'node_controller_initial_node_sync_delay_seconds',
    help: 'Seconds from the creation of a node to the end of its first synchronization.',
    buckets: BUCKETS,
  })
  const observe = (histogram: Histogram, { metadata }: Node, nowMs: number): void => {
    const createdMs = Date.parse(metadata?.creationTimestamp ?? '')
    if (!Number.isNaN(createdMs)) histogram.observe((nowMs - createdMs) / 1000)
  }
  return {
    taintRemoved: (node, nowMs) => observe(taintRemoval, node, nowMs),
    synced: (node, nowMs) => observe(firstSync, node, nowMs),
  }
}
