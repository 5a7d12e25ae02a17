/** Required affinity and anti-affinity between pods, both ways. Pure. */
import type { Pod, PodAffinityTerm } from '@gyropilot/api'
import { podLabelsMatch } from '../label-terms.ts'
import type { NodeInfo } from '../node-info.ts'

export function podAffinityReasons(
  pod: Pod,
  info: NodeInfo,
  all: readonly NodeInfo[],
): readonly string[] {
  const affinity = pod.spec?.affinity
  const together = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const apart = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  for (const term of together) {
    if (podInDomain(term, pod, info, all)) continue
    const firstOfItsGroup = termMatches(term, pod, pod) && !matchAnywhere(term, pod, all)
    if (!firstOfItsGroup) return ["node(s) didn't match pod affinity rules"]
  }
  if (apart.some((term) => podInDomain(term, pod, info, all))) {
    return ["node(s) didn't match pod anti-affinity rules"]
  }
  return repelledByExisting(pod, info, all)
    ? ["node(s) didn't satisfy existing pods anti-affinity rules"]
    : []
}

function repelledByExisting(pod: Pod, info: NodeInfo, all: readonly NodeInfo[]): boolean {
  const here = info.node?.metadata?.labels ?? {}
  for (const other of all) {
    const there = other.node?.metadata?.labels ?? {}
    for (const existing of other.pods.values()) {
      const terms =
        existing.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      for (const term of terms ?? []) {
        const domain = there[term.topologyKey]
        const sameDomain = domain !== undefined && domain === here[term.topologyKey]
        if (sameDomain && termMatches(term, existing, pod)) return true
      }
    }
  }
  return false
}

function podInDomain(
  term: PodAffinityTerm,
  owner: Pod,
  info: NodeInfo,
  all: readonly NodeInfo[],
): boolean {
  const domain = info.node?.metadata?.labels?.[term.topologyKey]
  if (domain === undefined) return false
  return all.some(
    (other) =>
      other.node?.metadata?.labels?.[term.topologyKey] === domain && hasMatch(term, owner, other),
  )
}

function matchAnywhere(term: PodAffinityTerm, owner: Pod, all: readonly NodeInfo[]): boolean {
  return all.some((info) => hasMatch(term, owner, info))
}

function hasMatch(term: PodAffinityTerm, owner: Pod, info: NodeInfo): boolean {
  for (const candidate of info.pods.values()) if (termMatches(term, owner, candidate)) return true
  return false
}

/** Namespaces named, else the owner's own. A namespaceSelector that selects everything matches all. */
function termMatches(term: PodAffinityTerm, owner: Pod, candidate: Pod): boolean {
  const namespace = candidate.metadata?.namespace ?? ''
  const everywhere =
    term.namespaceSelector !== undefined &&
    Object.keys(term.namespaceSelector.matchLabels ?? {}).length === 0 &&
    (term.namespaceSelector.matchExpressions ?? []).length === 0
  const named = term.namespaces ?? []
  const inScope =
    everywhere ||
    named.includes(namespace) ||
    (named.length === 0 && namespace === owner.metadata?.namespace)
  return inScope && podLabelsMatch(term.labelSelector, candidate.metadata?.labels ?? {})
}
