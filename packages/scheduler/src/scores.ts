/** How much a feasible node suits a pod. Contract: docs/behaviour/simulation/scheduler.md, Scores. Pure. */
import { isTaintTolerated, nodeTermMatches, podRequests } from '@gyropilot/api'
import type { Pod, ResourceAmounts } from '@gyropilot/api'
import { affinitySums } from './affinity-scores.ts'
import { scoredAmounts } from './node-info.ts'
import type { NodeInfo, ScoredAmounts } from './node-info.ts'
import { selectedGroup } from './pod-group.ts'
import type { PodGroup } from './pod-group.ts'
import type { Snapshot } from './snapshot.ts'

/** In the order of the nodes. `group`: pods that should stand apart by default: what a Service, ReplicaSet or StatefulSet of the pod selects. */
export function scoreNodes(
  pod: Pod,
  snapshot: Snapshot,
  feasible: readonly NodeInfo[],
  group: PodGroup | undefined,
): readonly number[] {
  const taints = scaled(feasible, (info) => -untoleratedPreferences(pod, info))
  const affinity = scaled(feasible, (info) => preferredAffinity(pod, info))
  const spread = spreadScores(pod, feasible, group)
  const between = scaledSums(affinitySums(pod, feasible, snapshot))
  const requests = podRequests(pod)
  const scored = scoredAmounts(pod, requests)
  return feasible.map(
    (info, i) =>
      3 * taints[i]! +
      2 * affinity[i]! +
      2 * spread[i]! +
      2 * (between?.[i] ?? 0) +
      leastAllocated(scored, info) +
      balanced(requests, info),
  )
}

/** Those that nobody surpasses, in the same order. */
export function bestScored(
  nodes: readonly NodeInfo[],
  scores: readonly number[],
): readonly NodeInfo[] {
  const best = Math.max(...scores)
  return nodes.filter((_, i) => scores[i] === best)
}

/** Lowest to highest becomes 0 to 100; all 100 when equal and none is below zero, else all 0. */
function scaled(nodes: readonly NodeInfo[], score: (info: NodeInfo) => number): readonly number[] {
  const raw = nodes.map(score)
  const lowest = Math.min(...raw)
  const highest = Math.max(...raw)
  if (lowest === highest) return raw.map(() => 100)
  return raw.map((value) => Math.floor((100 * (value - lowest)) / (highest - lowest)))
}

/** Lowest to highest becomes 0 to 100; all 0 when equal. */
function scaledSums(sums: readonly number[] | undefined): readonly number[] | undefined {
  if (sums === undefined) return undefined
  const lowest = Math.min(...sums)
  const highest = Math.max(...sums)
  if (lowest === highest) return undefined
  return sums.map((sum) => Math.floor((100 * (sum - lowest)) / (highest - lowest)))
}

function untoleratedPreferences(pod: Pod, info: NodeInfo): number {
  const taints = info.node?.spec?.taints ?? []
  return taints.filter(
    (t) => t.effect === 'PreferNoSchedule' && !isTaintTolerated(pod.spec?.tolerations, t),
  ).length
}

function preferredAffinity(pod: Pod, info: NodeInfo): number {
  const preferred =
    pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  return preferred
    .filter(({ preference }) => nodeTermMatches(preference, info.node!))
    .reduce((sum, { weight }) => sum + weight, 0)
}

const DEFAULT_SPREADING = [
  { topologyKey: 'kubernetes.io/hostname', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5 },
]

/** Fewer pods of the group in the node's domains is better: 100 * (max + min - s) / max. */
function spreadScores(
  pod: Pod,
  feasible: readonly NodeInfo[],
  group: PodGroup | undefined,
): readonly number[] {
  const own = pod.spec?.topologySpreadConstraints ?? []
  const constraints =
    own.length > 0
      ? own
          .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway')
          .map(({ topologyKey, maxSkew, labelSelector }) => ({
            topologyKey,
            maxSkew,
            group: selectedGroup(pod, labelSelector),
          }))
      : group === undefined
        ? []
        : DEFAULT_SPREADING.map((constraint) => ({ ...constraint, group }))
  const usable = constraints.filter(({ topologyKey }) =>
    feasible.some((info) => topologyKey in (info.node?.metadata?.labels ?? {})),
  )
  if (usable.length === 0) return feasible.map(() => 0)
  const sums = feasible.map(() => 0)
  for (const { topologyKey, maxSkew, group: counted } of usable) {
    const counts = new Map<string, number>()
    for (const info of feasible) {
      const domain = info.node?.metadata?.labels?.[topologyKey]
      if (domain === undefined) continue
      counts.set(domain, (counts.get(domain) ?? 0) + info.countOf(counted))
    }
    const weight = Math.log(counts.size + 2)
    feasible.forEach((info, i) => {
      const domain = info.node?.metadata?.labels?.[topologyKey]
      sums[i]! += domain === undefined ? 0 : counts.get(domain)! * weight + maxSkew - 1
    })
  }
  const rounded = sums.map((sum) => Math.round(sum))
  const most = Math.max(...rounded)
  const fewest = Math.min(...rounded)
  return rounded.map((sum) => (most === 0 ? 100 : Math.floor((100 * (most + fewest - sum)) / most)))
}

function leastAllocated(scored: ScoredAmounts, info: NodeInfo): number {
  const scores = (['cpu', 'memory'] as const).map((resource) => {
    const allocatable = info.allocatable.get(resource) ?? 0
    const requested = info.scored[resource] + scored[resource]
    return allocatable === 0 || requested > allocatable
      ? 0
      : Math.floor(((allocatable - requested) * 100) / allocatable)
  })
  return Math.floor((scores[0]! + scores[1]!) / 2)
}

function balanced(requests: ResourceAmounts, info: NodeInfo): number {
  if (!requests.get('cpu') && !requests.get('memory')) return 0
  const balance = (withPod: boolean): number => {
    const fractions = (['cpu', 'memory'] as const).map((resource) => {
      const used =
        (info.requested.get(resource) ?? 0) + (withPod ? (requests.get(resource) ?? 0) : 0)
      return Math.min(1, used / (info.allocatable.get(resource) || 1))
    })
    return (1 - Math.abs(fractions[0]! - fractions[1]!) / 2) * 100
  }
  return 50 + Math.floor((50 + balance(true) - balance(false)) / 2)
}
