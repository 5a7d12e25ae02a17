/**
 * Settings, names and numbers of the node lifecycle controller.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md.
 */
import { parseTime } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'

export interface NodeLifecycleConfiguration {
  /** --node-monitor-period: from the end of a pass over all nodes to the next. */
  readonly nodeMonitorPeriodMs: number
  /** --node-monitor-grace-period: how long a node may be silent. */
  readonly nodeMonitorGracePeriodMs: number
  /** --node-startup-grace-period: the same for a node that never posted whether it is ready. */
  readonly nodeStartupGracePeriodMs: number
  /** --node-eviction-rate: NoExecute taints per second and zone. */
  readonly nodeEvictionRate: number
  /** --secondary-node-eviction-rate: the same in a disrupted large zone. */
  readonly secondaryNodeEvictionRate: number
  /** --unhealthy-zone-threshold: the share of nodes not ready, 0 to 1, that disrupts a zone. */
  readonly unhealthyZoneThreshold: number
  /** --large-cluster-size-threshold: a disrupted zone of so many nodes or fewer taints none. */
  readonly largeClusterSizeThreshold: number
}

export const defaultNodeLifecycleConfiguration: NodeLifecycleConfiguration = {
  nodeMonitorPeriodMs: 5_000,
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  unhealthyZoneThreshold: 0.55,
  largeClusterSizeThreshold: 50,
}

export const CONTROLLER_NAME = 'node-lifecycle-controller'
export const SERVICE_ACCOUNT = 'node-controller'
export const EVENT_COMPONENT = 'node-controller'
export const NODE_QUEUE = 'node_lifecycle_controller'
export const POD_QUEUE = 'node_lifecycle_controller_pods'
export const LEASE_NAMESPACE = 'kube-node-lease'

export const NODE_WORKERS = 8
export const POD_WORKERS = 4
export const MONITORED_AT_ONCE = 8
export const STATUS_TRIES = 5
export const STATUS_PAUSE_MS = 20
export const TAINTING_PERIOD_MS = 100
export const NO_CONDITION_PAUSE_MS = 50

/** 0 where it cannot be read, so that such a node is old. */
export function creationMs({ metadata }: KubernetesObject): number {
  return parseTime(metadata?.creationTimestamp) ?? 0
}
