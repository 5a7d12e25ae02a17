/** Fixed values. Contract: docs/behaviour/controllers/service-cidr-controller.md. */
export const FINALIZER = 'networking.k8s.io/service-cidr-finalizer'
export const WORKERS = 5
export const QUEUE_NAME = 'ipaddresses'
export const MAX_RETRIES = 15
/** Plural, unlike the controller's name. */
export const SERVICE_ACCOUNT = 'service-cidrs-controller'
export const EVENT_COMPONENT = 'service-cidr-controller'
/** Owner of the condition in managedFields. */
export const FIELD_MANAGER = 'service-cidr-controller'
/** From the deletion on; until then API servers that have not seen it may still give out addresses. */
export const DELETION_GRACE_MS = 10_000

/** On IPAddresses: who made them, and of which family they are. */
export const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by'
export const ALLOCATOR = 'ipallocator.k8s.io'
export const IP_FAMILY = 'ipaddress.kubernetes.io/ip-family'
