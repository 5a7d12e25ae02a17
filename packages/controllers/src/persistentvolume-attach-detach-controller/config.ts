/** Settings, names and numbers. Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md. */

export interface AttachDetachConfiguration {
  /** --disable-attach-detach-reconcile-sync: what is attached is never verified. */
  readonly disableReconcileSync: boolean
  /** --attach-detach-reconcile-sync-period: from one verification to the next. */
  readonly reconcileSyncPeriodMs: number
  /** --disable-force-detach-on-timeout: only the out-of-service taint forces. */
  readonly disableForceDetachOnTimeout: boolean
}

export const defaultAttachDetachConfiguration: AttachDetachConfiguration = {
  disableReconcileSync: false,
  reconcileSyncPeriodMs: 60_000,
  disableForceDetachOnTimeout: false,
}

export const CONTROLLER_NAME = 'persistentvolume-attach-detach-controller'
export const SERVICE_ACCOUNT = 'attachdetach-controller'
export const EVENT_COMPONENT = 'attachdetach-controller'
export const CLAIM_QUEUE = 'pvcs'

/** On nodes: their volumes are attached here. */
export const MANAGED_ANNOTATION = 'volumes.kubernetes.io/controller-managed-attach-detach'
export const OUT_OF_SERVICE_TAINT = 'node.kubernetes.io/out-of-service'

/** From the end of a pass to the next. */
export const PASS_PERIOD_MS = 100
/** What comes together is looked at together. */
export const GATHERING_MS = 50
/** How long a node may take to unmount. */
export const UNMOUNT_WAIT_MS = 6 * 60_000
export const POPULATOR_PERIOD_MS = 60_000
export const FULL_POPULATION_PERIOD_MS = 3 * 60_000
/** How long the driver may take. */
export const DRIVER_WAIT_MS = 2 * 60_000
export const FIRST_POLL_MS = 500
export const POLL_GROWTH = 1.05
export const LONGEST_POLL_MS = 7_000
export const POLL_JITTER = 0.1
export const FIRST_BACKOFF_MS = 500
export const LONGEST_BACKOFF_MS = 122_000
/** A node status that cannot be written is tried again, less and less often. */
export const FIRST_STATUS_RETRY_MS = 100
export const LONGEST_STATUS_RETRY_MS = 10_000
/** Node statuses that are written beside each other before volumes leave. */
export const STATUSES_AT_ONCE = 16
