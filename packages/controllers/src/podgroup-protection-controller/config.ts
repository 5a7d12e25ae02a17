/**
 * Fixed values and names of the protection of PodGroups.
 * Contract: docs/behaviour/controllers/podgroup-protection-controller.md.
 */
export const FINALIZER = 'scheduling.k8s.io/podgroup-protection'
export const FEATURE_GATE = 'GenericWorkload'
export const QUEUE_NAME = 'podgroupprotection'
export const SERVICE_ACCOUNT = 'podgroup-protection-controller'
