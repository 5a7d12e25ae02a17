/**
 * Settings and limits of the Job controller.
 * Contract: docs/behaviour/controllers/job-controller.md, Concurrency, Flags and configuration.
 */
export interface JobConfiguration {
  /** --concurrent-job-syncs; as many workers look after orphaned pods. */
  readonly concurrentJobSyncs: number
}

export const defaultJobConfiguration: JobConfiguration = { concurrentJobSyncs: 5 }

/** Most pods that one sync creates, or removes because there are too many. */
export const MAX_PODS_PER_SYNC = 500
/** Most finished pods that one sync takes into the status. */
export const MAX_TRACKED_PER_SYNC = 500
/** Events about pods are gathered for so long: a status write for many costs as much as for one. */
export const BATCH_PERIOD_MS = 1_000

/** Of a failing key. */
export const MIN_RETRY_MS = 1_000
export const MAX_RETRY_MS = 60_000

/** After the first failure of a pod; doubled by each further one. */
export const POD_BACKOFF_BASE_MS = 10_000
export const POD_BACKOFF_MAX_MS = 600_000
