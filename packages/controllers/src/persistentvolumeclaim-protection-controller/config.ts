/** Fixed values. Contract: docs/behaviour/controllers/persistentvolumeclaim-protection-controller.md. */
export const FINALIZER = 'kubernetes.io/pvc-protection'
/** One: the claims of a namespace are judged by one list of its pods. */
export const WORKERS = 1
/** Until cache and server, which do not agree on the pods of a claim, are compared again. */
export const CATCH_UP_MS = 1_000
/** Of each claim, as of the queue's keys. */
export const RETRY_MIN_MS = 5
export const RETRY_MAX_MS = 1_000_000
export const QUEUE_NAME = 'pvcprotection'
export const SERVICE_ACCOUNT = 'pvc-protection-controller'
/** Alpha in 1.36. */
export const UNUSED_SINCE_GATE = 'PersistentVolumeClaimUnusedSinceTime'
