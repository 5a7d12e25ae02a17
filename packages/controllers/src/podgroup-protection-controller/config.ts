/**
 * Fixed values and names of the protection of PodGroups.
 * Contract: docs/behaviour/controllers/podgroup-protection-controller.md.
 */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'

/** Alpha, and served only when asked for: not among the generated types. */
export const POD_GROUPS: ResourceType<KubernetesObject> = {
  group: 'scheduling.k8s.io',
  version: 'v1alpha2',
  resource: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
}

export const FINALIZER = 'scheduling.k8s.io/podgroup-protection'
export const FEATURE_GATE = 'GenericWorkload'
export const QUEUE_NAME = 'podgroupprotection'
export const SERVICE_ACCOUNT = 'podgroup-protection-controller'
