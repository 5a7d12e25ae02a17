/**
 * Names that users see.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Events, Concurrency.
 */
export const EVENT_COMPONENT = 'replicaset-controller'
export const QUEUE_NAME = 'replicaset'
export const SERVICE_ACCOUNT = 'replicaset-controller'
