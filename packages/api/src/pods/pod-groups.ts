/** PodGroups, whose pods are scheduled and share claims together. Contract: docs/behaviour/controllers/podgroup-protection-controller.md. */
import type { Pod } from '../generated/core-v1.ts'
import { resourcesOnRequest } from '../generated/resource-types.ts'

export const POD_GROUPS = resourcesOnRequest.podgroups

/** The name of the group that the pod's spec refers to. Owner references do not matter. */
export function podGroupNameOf({ spec }: Pod): string | undefined {
  return spec?.schedulingGroup?.podGroupName || undefined
}

/** `namespace/name` of that group. */
export function podGroupKeyOf(pod: Pod): string | undefined {
  const name = podGroupNameOf(pod)
  return name === undefined ? undefined : `${pod.metadata?.namespace}/${name}`
}
