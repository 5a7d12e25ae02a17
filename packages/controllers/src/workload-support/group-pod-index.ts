/** Pods that name claims, by the PodGroup that may share its own with them. */
import { podGroupKeyOf } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import type { IndexFunction, Informer, Lister } from '@gyropilot/runtime'

/** With it PodGroups have claims that their pods share: alpha, off by default. */
export const SHARED_CLAIMS_GATE = 'DRAWorkloadResourceClaims'

const GROUP_INDEX = 'podsWithClaimsByGroup'

const groupOfPod: IndexFunction<Pod> = (pod) => {
  const key = podGroupKeyOf(pod)
  return key === undefined || (pod.spec?.resourceClaims ?? []).length === 0 ? [] : [key]
}

/** Registering it again is fine. */
export function addGroupPodIndex(pods: Informer<Pod>): void {
  pods.addIndex(GROUP_INDEX, groupOfPod)
}

/** `groupKey`: `namespace/name`. */
export function podsOfGroup(pods: Lister<Pod>, groupKey: string): readonly Pod[] {
  return pods.byIndex(GROUP_INDEX, groupKey)
}
