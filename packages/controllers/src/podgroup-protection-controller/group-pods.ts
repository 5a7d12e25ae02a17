/**
 * Which pods keep a PodGroup.
 * Contract: docs/behaviour/controllers/podgroup-protection-controller.md, Watches and keys.
 */
import { isPodFinished, podGroupKeyOf } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import type { IndexFunction } from '@gyropilot/runtime'

export const ACTIVE_PODS_BY_GROUP = 'activePodsByGroup'

/** Pods that are not finished, by their group: also those on their way out, and those without a node. */
export const activePodsByGroup: IndexFunction<Pod> = (pod) => {
  const key = podGroupKeyOf(pod)
  return key === undefined || isPodFinished(pod) ? [] : [key]
}
