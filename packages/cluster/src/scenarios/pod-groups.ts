/** PodGroups, which are behind a version and alpha gates. */
import type { ObjectMeta, PodGroup, PodResourceClaim } from '@gyropilot/api'

export const POD_GROUPS_SERVED = { 'scheduling.k8s.io/v1alpha2': true } as const

/** With claims that a PodGroup shares with its pods. */
export const SHARED_CLAIM_GATES = {
  GenericWorkload: true,
  DRAWorkloadResourceClaims: true,
} as const

/** Whose pods are scheduled all or none; Jobs make some. */
export const GANG_GATES = {
  GenericWorkload: true,
  GangScheduling: true,
  WorkloadWithJob: true,
} as const

/** `minCount`: of a gang; 0: its pods do not wait for each other. */
export function podGroup(
  metadata: ObjectMeta,
  resourceClaims: readonly PodResourceClaim[] = [],
  minCount = 0,
): PodGroup {
  const schedulingPolicy = minCount === 0 ? { basic: {} } : { gang: { minCount } }
  return { metadata, spec: { schedulingPolicy, resourceClaims } }
}
