/** Names and fixed values. Contract: docs/behaviour/controllers/persistentvolume-expander-controller.md. */

export const QUEUE_NAME = 'volume_expand'
export const EVENT_COMPONENT = 'volume_expand'
export const SERVICE_ACCOUNT = 'expand-controller'
export const WORKERS = 10

/** On claims: who makes the volume larger. */
export const RESIZER = 'volume.kubernetes.io/storage-resizer'
/** On volumes: the claim's capacity before, for the kubelet that finishes. */
export const PRE_RESIZE_CAPACITY = 'volume.alpha.kubernetes.io/pre-resize-capacity'
