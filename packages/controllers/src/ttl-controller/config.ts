/** Fixed values. Contract: docs/behaviour/controllers/ttl-controller.md. */
export const WORKERS = 5
export const QUEUE_NAME = 'ttlcontroller'
export const SERVICE_ACCOUNT = 'ttl-controller'
/** Whole seconds, on every Node. */
export const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl'
