/** DoNotSchedule constraints: no domain may be more than maxSkew ahead of the emptiest. Pure. */
import { isTaintTolerated, nodeAffinityMatches } from '@gyropilot/api'
import type { Pod, TopologySpreadConstraint } from '@gyropilot/api'
import { podLabelsMatch } from '../label-terms.ts'
import type { NodeInfo } from '../node-info.ts'

const SKEWED = "node(s) didn't match pod topology spread constraints"

export function topologySpreadReasons(
  pod: Pod,
  info: NodeInfo,
  all: readonly NodeInfo[],
): readonly string[] {
  const constraints = (pod.spec?.topologySpreadConstraints ?? []).filter(
    (constraint) => (constraint.whenUnsatisfiable ?? 'DoNotSchedule') === 'DoNotSchedule',
  )
  const labels = info.node?.metadata?.labels ?? {}
  for (const constraint of constraints) {
    const domain = labels[constraint.topologyKey]
    if (domain === undefined) return [`${SKEWED} (missing required label)`]
    const counts = domainCounts(pod, constraint, constraints, all)
    const fewest = counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...counts.values())
    const self = podLabelsMatch(constraint.labelSelector, pod.metadata?.labels ?? {}) ? 1 : 0
    if ((counts.get(domain) ?? 0) + self - fewest > constraint.maxSkew) return [SKEWED]
  }
  return []
}

/** Matching pods per domain, over the nodes that the constraint looks at. */
export function domainCounts(
  pod: Pod,
  constraint: TopologySpreadConstraint,
  constraints: readonly TopologySpreadConstraint[],
  all: readonly NodeInfo[],
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const info of all) {
    const labels = info.node?.metadata?.labels ?? {}
    const domain = labels[constraint.topologyKey]
    if (domain === undefined || !constraints.every(({ topologyKey }) => topologyKey in labels))
      continue
    if (!isCounted(pod, constraint, info)) continue
    let matching = 0
    for (const other of info.pods.values()) {
      const sameNamespace = other.metadata?.namespace === pod.metadata?.namespace
      const leaving = other.metadata?.deletionTimestamp !== undefined
      if (
        sameNamespace &&
        !leaving &&
        podLabelsMatch(constraint.labelSelector, other.metadata?.labels ?? {})
      ) {
        matching++
      }
    }
    counts.set(domain, (counts.get(domain) ?? 0) + matching)
  }
  return counts
}

function isCounted(pod: Pod, constraint: TopologySpreadConstraint, info: NodeInfo): boolean {
  const honorsAffinity = (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor'
  if (honorsAffinity && !nodeAffinityMatches(pod.spec, info.node ?? {})) return false
  if (constraint.nodeTaintsPolicy !== 'Honor') return true
  return (info.node?.spec?.taints ?? []).every(
    (taint) =>
      taint.effect === 'PreferNoSchedule' || isTaintTolerated(pod.spec?.tolerations, taint),
  )
}
