/**
 * Which pods keep a PodGroup.
 * Contract: docs/behaviour/controllers/podgroup-protection-controller.md, Watches and keys.
 */
import { isPodFinished } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import type { IndexFunction } from '@gyropilot/runtime'

/** The group that the pod's spec refers to, as a key. Owner references do not matter. */
export function groupKeyOf({ metadata, spec }: Pod): string | undefined {
  const name = spec?.schedulingGroup?.podGroupName
  return name ? `${metadata?.namespace}/${name}` : undefined
}

export const ACTIVE_PODS_BY_GROUP = 'activePodsByGroup'

/** Pods that are not finished, by their group: also those on their way out, and those without a node. */
export const activePodsByGroup: IndexFunction<Pod> = (pod) => {
  const key = groupKeyOf(pod)
  return key === undefined || isPodFinished(pod) ? [] : [key]
}
