/** Names and settings. Contract: docs/behaviour/controllers/service-lb-controller.md. */

export interface ServiceLbConfiguration {
  /** Services, and in a change of nodes balancers, at the same time: --concurrent-service-syncs. */
  readonly concurrentServiceSyncs: number
}

export const defaultServiceLbConfiguration: ServiceLbConfiguration = { concurrentServiceSyncs: 1 }

export const SERVICE_ACCOUNT = 'service-controller'
export const EVENT_COMPONENT = 'service-controller'
export const SERVICE_QUEUE_NAME = 'service'
export const NODE_QUEUE_NAME = 'node'
/** The `name` of `running_managed_controllers`. */
export const RUNNING_NAME = 'service'

export const SERVICE_RESYNC_PERIOD_MS = 30_000
export const NODE_RESYNC_PERIOD_MS = 100_000
export const LEAST_RETRY_MS = 5_000
export const LONGEST_RETRY_MS = 300_000

export const CLEANUP_FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'
export const EXCLUDE_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers'
export const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler'
