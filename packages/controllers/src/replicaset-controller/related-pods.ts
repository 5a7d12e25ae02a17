/**
 * Pods that a ReplicaSet should not share nodes with.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Manage replicas.
 */
import { controllerOf } from '@gyropilot/api'
import type { Pod, ReplicaSet } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'
import { selectorQuery } from '../workload-support/label-selector.ts'
import { CONTROLLER_UID_INDEX } from '../workload-support/ownership.ts'
import { podsMatching } from '../workload-support/pod-label-index.ts'

interface RelatedListers {
  readonly replicaSets: Lister<ReplicaSet>
  readonly pods: Lister<Pod>
}

/**
 * Pods that match the selector of any ReplicaSet with the same controlling owner, each once,
 * whoever owns them. None for a ReplicaSet without a controller. A sibling with an invalid selector
 * spoils the ranking, not the deletion: nothing then.
 */
export function relatedPods(replicaSet: ReplicaSet, listers: RelatedListers): readonly Pod[] {
  const controller = controllerOf(replicaSet)
  if (controller === undefined) return []
  const related = new Map<string, Pod>()
  try {
    for (const sibling of listers.replicaSets.byIndex(CONTROLLER_UID_INDEX, controller.uid)) {
      const query = selectorQuery(sibling.spec?.selector)
      for (const pod of podsMatching(listers.pods, sibling.metadata?.namespace, query))
        related.set(pod.metadata?.uid ?? '', pod)
    }
  } catch {
    return []
  }
  return [...related.values()]
}
