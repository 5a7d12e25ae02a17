/**
 * Settings of the DaemonSet controller.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Flags and configuration, Concurrency.
 */
export interface DaemonSetConfiguration {
  /** --concurrent-daemonset-syncs: workers of the queue of DaemonSets, and of that of nodes. */
  readonly concurrentDaemonSetSyncs: number
}

export const defaultDaemonSetConfiguration: DaemonSetConfiguration = {
  concurrentDaemonSetSyncs: 2,
}

/** Most pods that one sync creates, and most that it deletes. */
export const BURST_REPLICAS = 250

/** How long a failed pod of a node is kept before it is replaced: doubled with each failure. */
export const FAILED_POD_BACKOFF_MS = 1_000
export const FAILED_POD_BACKOFF_MAX_MS = 15 * 60_000
export const BACKOFF_COLLECTION_PERIOD_MS = 60_000

export const DEFAULT_HISTORY_LIMIT = 10
