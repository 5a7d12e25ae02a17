/**
 * Where pods would rather be together or apart. Contract: docs/behaviour/simulation/scheduler.md, Scores, InterPodAffinity. Pure.
 */
import type { Pod, PodAffinityTerm } from '@gyropilot/api'
import { preferredTerms, termMatches, termsOnOthers } from './affinity-terms.ts'
import type { NamespaceLabels, SignedTerm } from './affinity-terms.ts'
import type { NodeInfo } from './node-info.ts'
import type { CountedGroup } from './counted-group.ts'
import { selectorText } from './counted-group.ts'
import type { Snapshot } from './snapshot.ts'

/** Signed weights of every term that applies to each node; undefined when there is none at all. */
export function affinitySums(
  pod: Pod,
  feasible: readonly NodeInfo[],
  snapshot: Snapshot,
): readonly number[] | undefined {
  const domains = new DomainWeights()
  const own = preferredTerms(pod)
  if (own.length > 0) addOwn(domains, pod, own, snapshot)
  for (const info of snapshot.inclined)
    for (const existing of info.inclined.values())
      for (const { term, weight } of termsOnOthers(existing))
        if (termMatches(term, existing, pod, snapshot.namespaceLabels))
          domains.add(info, term.topologyKey, weight)
  if (domains.isEmpty) return undefined
  return feasible.map((info) => domains.sumFor(info))
}

function addOwn(
  domains: DomainWeights,
  pod: Pod,
  own: readonly SignedTerm[],
  { nodes, namespaceLabels }: Snapshot,
): void {
  const counted = own.map(({ term, weight }) => ({
    key: term.topologyKey,
    weight,
    count: counterOf(pod, term, namespaceLabels),
  }))
  for (const info of nodes)
    for (const { key, weight, count } of counted) domains.add(info, key, weight * count(info))
}

/** Pods that a node has of those that the term is about, also those on their way out. */
function counterOf(
  pod: Pod,
  term: PodAffinityTerm,
  namespaceLabels: NamespaceLabels,
): (info: NodeInfo) => number {
  const has = (other: Pod): boolean => termMatches(term, pod, other, namespaceLabels)
  // Namespaces get other labels without a word to the node that keeps the count.
  if (term.namespaceSelector !== undefined)
    return ({ pods }) => [...pods.values()].filter(has).length
  const group: CountedGroup = { key: `${pod.metadata?.namespace} term ${selectorText(term)}`, has }
  return (info) => info.countOf(group)
}

/** Weights by topology key and the value that nodes have for it. */
class DomainWeights {
  readonly #weights = new Map<string, Map<string, number>>()

  get isEmpty(): boolean {
    return this.#weights.size === 0
  }

  /** Where `info` is. A node without the label is in no domain. */
  add(info: NodeInfo, key: string, weight: number): void {
    const domain = info.label(key)
    if (domain === undefined || weight === 0) return
    const weights = this.#weights.get(key) ?? new Map<string, number>()
    this.#weights.set(key, weights.set(domain, (weights.get(domain) ?? 0) + weight))
  }

  sumFor(info: NodeInfo): number {
    let sum = 0
    for (const [key, weights] of this.#weights) sum += weights.get(info.label(key) ?? '') ?? 0
    return sum
  }
}
