/**
 * Settings of the ReplicaSet controller.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Flags and configuration.
 */
export interface ReplicaSetConfiguration {
  /** --concurrent-replicaset-syncs */
  readonly concurrentReplicaSetSyncs: number
}

export const defaultReplicaSetConfiguration: ReplicaSetConfiguration = {
  concurrentReplicaSetSyncs: 5,
}

/** Most pods that one sync creates, or deletes. */
export const BURST_REPLICAS = 500
