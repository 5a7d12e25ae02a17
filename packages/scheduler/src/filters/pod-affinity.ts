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
  const affinity = pod.spec?.affinity
  const terms = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const together = terms.map((term) => {
    const domains = domainsWith(term, pod, snapshot)
    // The first of its group may go anywhere.
    const anywhere = !domains.exist && termMatches(term, pod, pod, snapshot.namespaceLabels)
    return { key: term.topologyKey, domains: domains.values, anywhere }
  })
  const apart = (
    affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  ).map((term) => ({ key: term.topologyKey, domains: domainsWith(term, pod, snapshot).values }))
  const repelled = repelledDomains(pod, snapshot)
  if (together.length + apart.length + repelled.size === 0) return undefined
  return ({ node }) => {
    const labels = node?.metadata?.labels ?? {}
    const isIn = (key: string, domains: ReadonlySet<string>): boolean => {
      const domain = labels[key]
      return domain !== undefined && domains.has(domain)
    }
    if (together.some(({ key, domains, anywhere }) => !anywhere && !isIn(key, domains)))
      return [NO_AFFINITY]
    if (apart.some(({ key, domains }) => isIn(key, domains)))
      return ["node(s) didn't match pod anti-affinity rules"]
    for (const [key, domains] of repelled)
      if (isIn(key, domains)) return ["node(s) didn't satisfy existing pods anti-affinity rules"]
    return NONE
  }
}

/** Whether the pod has to be where such pods are. */
export function isAwaited(pod: Pod, other: Pod, namespaceLabels: NamespaceLabels): boolean {
  const terms = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return (terms ?? []).some((term) => termMatches(term, pod, other, namespaceLabels))
}

/** Where pods are that want to be apart from this one: by topology key. */
function repelledDomains(
  pod: Pod,
  { repelling, namespaceLabels }: Snapshot,
): ReadonlyMap<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const info of repelling) {
    const labels = info.node?.metadata?.labels ?? {}
    for (const existing of info.repelling.values()) {
      const terms =
        existing.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      for (const term of terms ?? []) {
        const domain = labels[term.topologyKey]
        if (domain === undefined || !termMatches(term, existing, pod, namespaceLabels)) continue
        const domains = found.get(term.topologyKey) ?? new Set()
        found.set(term.topologyKey, domains.add(domain))
      }
    }
  }
  return found
}

/** The domains of pods that the term is about. `exist`: such pods are somewhere, also outside of any domain. */
function domainsWith(
  term: PodAffinityTerm,
  owner: Pod,
  { nodes, namespaceLabels }: Snapshot,
): { readonly values: ReadonlySet<string>; readonly exist: boolean } {
  const values = new Set<string>()
  let exist = false
  for (const info of nodes) {
    const domain = info.node?.metadata?.labels?.[term.topologyKey]
    if (domain !== undefined && values.has(domain)) continue
    if (!hasMatch(term, owner, info, namespaceLabels)) continue
    exist = true
    if (domain !== undefined) values.add(domain)
  }
  return { values, exist }
}

function hasMatch(
  term: PodAffinityTerm,
  owner: Pod,
  info: NodeInfo,
  namespaceLabels: NamespaceLabels,
): boolean {
  for (const candidate of info.pods.values())
    if (termMatches(term, owner, candidate, namespaceLabels)) return true
  return false
}
