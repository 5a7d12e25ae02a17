/**
 * Settings of the ReplicaSet controller, and the names that users see.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Flags and configuration, Events.
 */
export interface ReplicaSetConfiguration {
  /** --concurrent-replicaset-syncs */
  readonly concurrentReplicaSetSyncs: number
}

export const defaultReplicaSetConfiguration: ReplicaSetConfiguration = {
  concurrentReplicaSetSyncs: 5,
}

export const EVENT_COMPONENT = 'replicaset-controller'
export const QUEUE_NAME = 'replicaset'
export const SERVICE_ACCOUNT = 'replicaset-controller'
export const STALE_SYNC_SKIPS = 'replicaset_controller_stale_sync_skips_total'
