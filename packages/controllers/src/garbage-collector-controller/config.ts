/** Settings of the garbage collector. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Flags and timing. */
export interface GarbageCollectorConfiguration {
  /** --enable-garbage-collector; must be the same at the API server. */
  readonly enableGarbageCollector: boolean
  /** --concurrent-gc-syncs: workers that delete, and as many that orphan. */
  readonly concurrentGcSyncs: number
}

export const defaultGarbageCollectorConfiguration: GarbageCollectorConfiguration = {
  enableGarbageCollector: true,
  concurrentGcSyncs: 20,
}

/** How long workers wait for monitors that do not fill their caches, at start and after each change of the resources. */
export const MONITOR_SYNC_TIMEOUT_MS = 30_000
export const DISCOVERY_PERIOD_MS = 30_000
export const ABSENT_OWNERS_MAX = 500
export const ORPHANED_OWNERS_MAX = 5_000

export const ORPHAN_FINALIZER = 'orphan'
export const FOREGROUND_FINALIZER = 'foregroundDeletion'

export const SERVICE_ACCOUNT = 'generic-garbage-collector'
export const EVENT_COMPONENT = 'garbage-collector-controller'
export const GRAPH_CHANGES_QUEUE = 'garbage_collector_graph_changes'
export const DELETE_QUEUE = 'garbage_collector_attempt_to_delete'
export const ORPHAN_QUEUE = 'garbage_collector_attempt_to_orphan'
