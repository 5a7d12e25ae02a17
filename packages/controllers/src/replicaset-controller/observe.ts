/**
 * Gathers what the rules of a ReplicaSet need from the caches.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Sync.
 */
import { controllerOf, keyOf } from '@gyropilot/api'
import type { Pod, ReplicaSet } from '@gyropilot/api'
import type { Expectations, Lister } from '@gyropilot/runtime'
import { selectorQuery } from '../workload-support/label-selector.ts'
import {
  CONTROLLER_UID_INDEX,
  POD_CONTROLLER_INDEX,
  ownedAndOrphaned,
} from '../workload-support/ownership.ts'
import { podsMatching } from '../workload-support/pod-label-index.ts'

export interface ObservedReplicaSet {
  readonly key: string
  readonly replicaSet: ReplicaSet
  /** Taken before the pods were listed: what was asked for earlier has all come back. */
  readonly expectationsMet: boolean
  /**
   * Pods with this ReplicaSet's uid as controller, and the orphans of the namespace, in any phase.
   */
  readonly pods: readonly Pod[]
  /**
   * Pods of all ReplicaSets with the same controller, asked for only when pods must be ranked for
   * deletion.
   */
  relatedPods(): readonly Pod[]
}

export interface ReplicaSetListers {
  readonly replicaSets: Lister<ReplicaSet>
  readonly pods: Lister<Pod>
}

export function observe(
  key: string,
  listers: ReplicaSetListers,
  expectations: Expectations,
): ObservedReplicaSet | undefined {
  const replicaSet = listers.replicaSets.getByKey(key)
  if (replicaSet === undefined) return undefined
  const expectationsMet = expectations.satisfied(key)
  return {
    key: keyOf(replicaSet),
    replicaSet,
    expectationsMet,
    pods: ownedAndOrphaned(listers.pods, POD_CONTROLLER_INDEX, replicaSet, 'ReplicaSet'),
    relatedPods: () => relatedPods(replicaSet, listers),
  }
}

/**
 * Pods that match the selector of any ReplicaSet with the same controlling owner, each once,
 * whoever owns them. None for a ReplicaSet without a controller. A sibling with an invalid selector
 * spoils the ranking, not the deletion: nothing then.
 */
export function relatedPods(replicaSet: ReplicaSet, listers: ReplicaSetListers): readonly Pod[] {
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
