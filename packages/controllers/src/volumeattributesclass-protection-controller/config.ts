/** Fixed values. Contract: docs/behaviour/controllers/volumeattributesclass-protection-controller.md. */
export const FINALIZER = 'kubernetes.io/vac-protection'
export const WORKERS = 1
export const QUEUE_NAME = 'vacprotection'
export const SERVICE_ACCOUNT = 'volumeattributesclass-protection-controller'
