/** Fixed values. Contract: docs/behaviour/controllers/persistentvolume-protection-controller.md. */
export const FINALIZER = 'kubernetes.io/pv-protection'
export const WORKERS = 1
export const QUEUE_NAME = 'pvprotection'
export const SERVICE_ACCOUNT = 'pv-protection-controller'
