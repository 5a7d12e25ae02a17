/**
 * Settings and names of the TTL-after-finished controller.
 * Contract: docs/behaviour/controllers/ttl-after-finished-controller.md, Watches and keys, Flags.
 */
export interface TtlAfterFinishedConfiguration {
  /** --concurrent-ttl-after-finished-syncs */
  readonly concurrentTtlSyncs: number
}

export const DEFAULT_WORKERS = 5

export const defaultTtlAfterFinishedConfiguration: TtlAfterFinishedConfiguration = {
  concurrentTtlSyncs: DEFAULT_WORKERS,
}

export const QUEUE_NAME = 'ttl_jobs_to_delete'
export const SERVICE_ACCOUNT = 'ttl-after-finished-controller'
