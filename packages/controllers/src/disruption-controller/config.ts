/**
 * Fixed values of the disruption controller, and the names that users see.
 * Contract: docs/behaviour/controllers/disruption-controller.md, Concurrency, Events.
 */
export const SERVICE_ACCOUNT = 'disruption-controller'
/** Of a time when there was one event source for all controllers. */
export const EVENT_COMPONENT = 'controllermanager'
export const QUEUE_NAME = 'disruption'
export const RECHECK_QUEUE_NAME = 'disruption_recheck'
export const STALE_POD_QUEUE_NAME = 'stale_pod_disruption'

/** A pod that was evicted is expected to be gone by then, and counts as healthy again if it is not. */
export const DELETION_TIMEOUT_MS = 2 * 60_000
/** A pod that was to be disrupted and still is there then was not. */
export const STALE_CONDITION_TIMEOUT_MS = 2 * 60_000
