/**
 * Settings of the StatefulSet controller.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Flags and configuration.
 */
export interface StatefulSetConfiguration {
  /** --concurrent-statefulset-syncs */
  readonly concurrentStatefulSetSyncs: number
}

export const defaultStatefulSetConfiguration: StatefulSetConfiguration = {
  concurrentStatefulSetSyncs: 5,
}

/** Most pods of a Parallel set that are worked on at the same time. */
export const MOST_PODS_AT_ONCE = 500

/** A claim that waits for the garbage collector brings no event when it is gone. */
export const STALE_CLAIM_RECHECK_MS = 1_000
