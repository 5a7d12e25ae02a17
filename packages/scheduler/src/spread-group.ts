/** Which pods belong together for default spreading. Pure. */
import { labelQueryOfLabels } from '@gyropilot/api'
import type {
  Labels,
  Pod,
  ReplicaSet,
  ReplicationController,
  Service,
  StatefulSet,
} from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'
import { podLabelsMatch } from './label-terms.ts'
import { countedGroup, selectorText } from './counted-group.ts'
import type { CountedGroup } from './counted-group.ts'

export interface GroupListers {
  readonly services: Lister<Service>
  readonly replicaSets: Lister<ReplicaSet>
  readonly statefulSets: Lister<StatefulSet>
  readonly replicationControllers: Lister<ReplicationController>
}

/** Pods that belong together for default spreading: what a Service or the pod's own controller selects. */
export function spreadGroupOf(pod: Pod, listers: GroupListers): CountedGroup | undefined {
  const labels = pod.metadata?.labels ?? {}
  const namespace = pod.metadata?.namespace
  const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller)
  const selector = ownersOf(owner?.kind, listers)?.get(namespace, owner!.name)?.spec?.selector
  const sets = [
    ...listers.services.list(namespace).map((service) => service.spec?.selector),
    owner?.kind === 'ReplicationController'
      ? listers.replicationControllers.get(namespace, owner.name)?.spec?.selector
      : undefined,
  ].filter((set) => selects(set, labels))
  if (selector === undefined && sets.length === 0) return undefined
  const text = [selector, ...sets].map(selectorText).join(' ')
  return countedGroup(namespace, text, (candidate) => {
    const own = candidate.metadata?.labels ?? {}
    const inSets = sets.every((set) => selects(set, own))
    return inSets && (selector === undefined || podLabelsMatch(selector, own))
  })
}

function ownersOf(
  kind: string | undefined,
  { replicaSets, statefulSets }: GroupListers,
): Lister<ReplicaSet | StatefulSet> | undefined {
  if (kind === 'ReplicaSet') return replicaSets
  return kind === 'StatefulSet' ? statefulSets : undefined
}

/** A set of labels as Services have it; none and an empty one select nothing. */
function selects(set: Labels | undefined, labels: Labels): boolean {
  const query = labelQueryOfLabels(set)
  return !query.matchesEverything && query.matches(labels)
}
