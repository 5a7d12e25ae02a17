/**
 * Settings and names of the pod garbage collector.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md.
 */
export interface PodGarbageCollectorConfiguration {
  /** --terminated-pod-gc-threshold: finished pods kept in the whole cluster; 0 and less keep all. */
  readonly terminatedPodThreshold: number
}

export const defaultPodGarbageCollectorConfiguration: PodGarbageCollectorConfiguration = {
  terminatedPodThreshold: 12_500,
}

/** From the end of a scan to the next. */
export const SCAN_PERIOD_MS = 20_000
/** How long a node must be missing before the server is asked for it. */
export const QUARANTINE_MS = 40_000

export const CLIENT_IDENTITY = 'pod-garbage-collector'
export const QUARANTINE_QUEUE = 'orphaned_pods_nodes'
