/** Required affinity and anti-affinity between pods, both ways. Pure. */
import type { Pod, PodAffinityTerm } from '@gyropilot/api'
import { termMatches } from '../affinity-terms.ts'
import type { NamespaceLabels } from '../affinity-terms.ts'
import type { NodeInfo } from '../node-info.ts'
import type { Snapshot } from '../snapshot.ts'
import type { NodeFilter } from './node-filter.ts'

const NONE: readonly string[] = []
export const NO_AFFINITY = "node(s) didn't match pod affinity rules"

export function podAffinity(pod: Pod, snapshot: Snapshot): NodeFilter | undefined {
  const together = requiredTerms(pod)
  const near = domainsWith(together, pod, snapshot)
  // The first of its group may go to any domain.
  const isFirst = near.size === 0 && matchesAll(together, pod, pod, snapshot.namespaceLabels)
  const apart = (
    pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  ).map((term) => ({ key: term.topologyKey, domains: domainsWith([term], pod, snapshot) }))
  const repelled = repelledDomains(pod, snapshot)
  if (together.length + apart.length + repelled.size === 0) return undefined
  return (info) => {
    const isIn = (key: string, domains: Domains): boolean => {
      const domain = info.label(key)
      return domain !== undefined && domains.get(key)?.has(domain) === true
    }
    // Be it the first, or not: a node without the label is in no domain.
    const isLabelled = (key: string): boolean => info.label(key) !== undefined
    if (together.some(({ topologyKey: key }) => !(isFirst ? isLabelled(key) : isIn(key, near))))
      return [NO_AFFINITY]
    if (apart.some(({ key, domains }) => isIn(key, domains)))
      return ["node(s) didn't match pod anti-affinity rules"]
    for (const key of repelled.keys())
      if (isIn(key, repelled)) return ["node(s) didn't satisfy existing pods anti-affinity rules"]
    return NONE
  }
}

function requiredTerms({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
}

/** Of several required terms a pod that is to be near has to match all: one for each of them is none. */
function matchesAll(
  terms: readonly PodAffinityTerm[],
  owner: Pod,
  candidate: Pod,
  namespaceLabels: NamespaceLabels,
): boolean {
  return (
    terms.length > 0 && terms.every((term) => termMatches(term, owner, candidate, namespaceLabels))
  )
}

/** Values by topology key. */
type Domains = ReadonlyMap<string, ReadonlySet<string>>

/** Whether the pod has to be where such pods are. */
export function isAwaited(pod: Pod, other: Pod, namespaceLabels: NamespaceLabels): boolean {
  return matchesAll(requiredTerms(pod), pod, other, namespaceLabels)
}

/** Where pods are that want to be apart from this one. */
function repelledDomains(pod: Pod, { repelling, namespaceLabels }: Snapshot): Domains {
  const found = new Map<string, Set<string>>()
  for (const info of repelling)
    for (const existing of info.repelling.values()) {
      const terms =
        existing.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      for (const term of terms ?? [])
        if (termMatches(term, existing, pod, namespaceLabels)) addDomain(found, term, info)
    }
  return found
}

/** The domains of pods that all these terms are about. */
function domainsWith(
  terms: readonly PodAffinityTerm[],
  owner: Pod,
  { nodes, namespaceLabels }: Snapshot,
): Domains {
  const found = new Map<string, Set<string>>()
  for (const info of terms.length === 0 ? [] : nodes) {
    if (terms.every((term) => isKnown(found, term, info))) continue
    for (const candidate of info.pods.values()) {
      if (!matchesAll(terms, owner, candidate, namespaceLabels)) continue
      for (const term of terms) addDomain(found, term, info)
      break
    }
  }
  return found
}

/** Nothing that is on this node could add a domain. */
function isKnown(domains: Domains, { topologyKey }: PodAffinityTerm, info: NodeInfo): boolean {
  const domain = info.label(topologyKey)
  return domain === undefined || domains.get(topologyKey)?.has(domain) === true
}

function addDomain(
  into: Map<string, Set<string>>,
  { topologyKey }: PodAffinityTerm,
  info: NodeInfo,
): void {
  const domain = info.label(topologyKey)
  if (domain === undefined) return
  const values = into.get(topologyKey) ?? new Set()
  into.set(topologyKey, values.add(domain))
}
