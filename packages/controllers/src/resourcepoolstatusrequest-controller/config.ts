/**
 * Fixed values of the answers to requests about device pools.
 * Contract: docs/behaviour/controllers/resourcepoolstatusrequest-controller.md.
 */
export const FEATURE_GATE = 'DRAResourcePoolStatus'
export const SERVICE_ACCOUNT = 'resourcepoolstatusrequest-controller'
export const WORKERS = 1
export const MAX_RETRIES = 5
/** Pools in an answer, where the request does not say. */
export const DEFAULT_LIMIT = 100
export const VALIDATION_ERROR_BYTES_MAX = 256

/** From the end of one clean-up to the beginning of the next. */
export const CLEAN_UP_PERIOD_MS = 600_000
export const FINISHED_AGE_MS = 3_600_000
export const PENDING_AGE_MS = 24 * 3_600_000
