/**
 * Settings of the ReplicationController controller, and the names that users see: three different
 * ones.
 * Contract: docs/behaviour/controllers/replicationcontroller-controller.md, Flags and
 * configuration, Events, Concurrency.
 */
export interface ReplicationControllerConfiguration {
  /** --concurrent-rc-syncs */
  readonly concurrentRcSyncs: number
}

export const defaultReplicationControllerConfiguration: ReplicationControllerConfiguration = {
  concurrentRcSyncs: 5,
}

export const EVENT_COMPONENT = 'replication-controller'
export const QUEUE_NAME = 'replicationmanager'
export const SERVICE_ACCOUNT = 'replication-controller'
