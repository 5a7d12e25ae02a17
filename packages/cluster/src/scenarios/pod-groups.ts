/** PodGroups, which are behind a version and alpha gates. */
import type { ObjectMeta, PodGroup, PodResourceClaim } from '@gyropilot/api'

export const POD_GROUPS_SERVED = { 'scheduling.k8s.io/v1alpha2': true } as const

/** With claims that a PodGroup shares with its pods. */
export const SHARED_CLAIM_GATES = {
  GenericWorkload: true,
  DRAWorkloadResourceClaims: true,
} as const

export function podGroup(
  metadata: ObjectMeta,
  resourceClaims: readonly PodResourceClaim[] = [],
): PodGroup {
  return { metadata, spec: { schedulingPolicy: { basic: {} }, resourceClaims } }
}
