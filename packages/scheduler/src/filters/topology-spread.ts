/** DoNotSchedule constraints: no domain may be more than maxSkew ahead of the emptiest. Pure. */
import { isTaintTolerated, nodeAffinityMatches } from '@gyropilot/api'
import type { Pod, TolerationOptions, TopologySpreadConstraint } from '@gyropilot/api'
import { podLabelsMatch } from '../label-terms.ts'
import type { NodeInfo } from '../node-info.ts'
import { selectedGroup } from '../counted-group.ts'
import type { Snapshot } from '../snapshot.ts'
import type { NodeFilter } from './node-filter.ts'

const NONE: readonly string[] = []
const SKEWED = "node(s) didn't match pod topology spread constraints"
export const NO_LABEL = `${SKEWED} (missing required label)`

export function topologySpread(pod: Pod, snapshot: Snapshot): NodeFilter | undefined {
  const constraints = requiredConstraints(pod)
  if (constraints.length === 0) return undefined
  const counted = constraints.map((constraint) => {
    const counts = domainCounts(pod, constraint, constraints, snapshot)
    const fewest = counts.size < (constraint.minDomains ?? 1) ? 0 : least(counts.values())
    const self = podLabelsMatch(constraint.labelSelector, pod.metadata?.labels ?? {}) ? 1 : 0
    return { constraint, counts, most: constraint.maxSkew + fewest - self }
  })
  return (info) => {
    for (const { constraint, counts, most } of counted) {
      const domain = info.label(constraint.topologyKey)
      if (domain === undefined) return [NO_LABEL]
      if ((counts.get(domain) ?? 0) > most) return [SKEWED]
    }
    return NONE
  }
}

/** Whether where the other pod is decides where this one may be. */
export function isCountedFor(pod: Pod, other: Pod): boolean {
  if (pod.metadata?.namespace !== other.metadata?.namespace) return false
  const labels = other.metadata?.labels ?? {}
  return requiredConstraints(pod).some(({ labelSelector }) => podLabelsMatch(labelSelector, labels))
}

function requiredConstraints({ spec }: Pod): readonly TopologySpreadConstraint[] {
  return (spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable = 'DoNotSchedule' }) => whenUnsatisfiable === 'DoNotSchedule',
  )
}

function least(counts: Iterable<number>): number {
  let fewest = Infinity
  for (const count of counts) fewest = Math.min(fewest, count)
  return fewest
}

/** Matching pods per domain, over the nodes that the constraint looks at. */
function domainCounts(
  pod: Pod,
  constraint: TopologySpreadConstraint,
  constraints: readonly TopologySpreadConstraint[],
  { nodes, tolerationOptions }: Snapshot,
): Map<string, number> {
  const group = selectedGroup(pod, constraint.labelSelector)
  const counts = new Map<string, number>()
  for (const info of nodes) {
    const domain = info.label(constraint.topologyKey)
    if (domain === undefined || !isLabelledFor(constraints, info)) continue
    if (!isCounted(pod, constraint, info, tolerationOptions)) continue
    counts.set(domain, (counts.get(domain) ?? 0) + info.countOf(group))
  }
  return counts
}

/** Whether the node is in a domain of each of them. */
export function isLabelledFor(
  constraints: readonly Pick<TopologySpreadConstraint, 'topologyKey'>[],
  info: NodeInfo,
): boolean {
  return constraints.every(({ topologyKey }) => info.label(topologyKey) !== undefined)
}

/** Whether the pods of the node count: by the constraint's policies. */
export function isCounted(
  pod: Pod,
  constraint: Pick<TopologySpreadConstraint, 'nodeAffinityPolicy' | 'nodeTaintsPolicy'>,
  info: NodeInfo,
  tolerationOptions: TolerationOptions,
): boolean {
  const honorsAffinity = (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor'
  if (honorsAffinity && !nodeAffinityMatches(pod.spec, info.node ?? {})) return false
  if (constraint.nodeTaintsPolicy !== 'Honor') return true
  return info.taints.every(
    (taint) =>
      taint.effect === 'PreferNoSchedule' ||
      isTaintTolerated(pod.spec?.tolerations, taint, tolerationOptions),
  )
}
