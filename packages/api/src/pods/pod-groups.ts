/**
 * PodGroups, whose pods are scheduled and share claims together: alpha in 1.36 and served only when asked for, so not
 * among the generated types. Contract: docs/behaviour/controllers/podgroup-protection-controller.md.
 */
import type { Pod, PodResourceClaim, PodResourceClaimStatus } from '../generated/core-v1.ts'
import type { KubernetesObject } from '../object.ts'
import type { ResourceType } from '../resource-type.ts'

export interface PodGroup extends KubernetesObject {
  readonly spec?: {
    readonly podGroupTemplateRef?: {
      readonly workload?: { readonly workloadName?: string; readonly podGroupTemplateName?: string }
    }
    /** With gate DRAWorkloadResourceClaims. */
    readonly resourceClaims?: readonly PodResourceClaim[]
    readonly [field: string]: unknown
  }
  readonly status?: {
    readonly resourceClaimStatuses?: readonly PodResourceClaimStatus[]
    readonly [field: string]: unknown
  }
}

export const POD_GROUPS: ResourceType<PodGroup> = {
  group: 'scheduling.k8s.io',
  version: 'v1alpha2',
  resource: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
}

/** The name of the group that the pod's spec refers to. Owner references do not matter. */
export function podGroupNameOf({ spec }: Pod): string | undefined {
  return spec?.schedulingGroup?.podGroupName || undefined
}

/** `namespace/name` of that group. */
export function podGroupKeyOf(pod: Pod): string | undefined {
  const name = podGroupNameOf(pod)
  return name === undefined ? undefined : `${pod.metadata?.namespace}/${name}`
}
