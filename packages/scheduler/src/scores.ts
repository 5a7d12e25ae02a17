/** How much a feasible node suits a pod. Contract: docs/behaviour/simulation/scheduler.md, Scores. Pure. */
import { isTaintTolerated, nodeTermMatches, podRequests } from '@gyropilot/api'
import type { Pod, PreferredSchedulingTerm, ResourceAmounts } from '@gyropilot/api'
import { affinitySums } from './affinity-scores.ts'
import { scoredAmounts } from './node-info.ts'
import type { NodeInfo, ScoredAmounts } from './node-info.ts'
import { selectedGroup } from './pod-group.ts'
import type { PodGroup } from './pod-group.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * In the order of the nodes. Asked for some hundred nodes of each pod: nothing is made for a node but its scores. `group`: pods that should stand apart by default: what a Service, ReplicaSet or StatefulSet of the pod selects.
 */
export function scoreNodes(
  pod: Pod,
  snapshot: Snapshot,
  feasible: readonly NodeInfo[],
  group: PodGroup | undefined,
): readonly number[] {
  const taints = scaled(feasible, (info) => -untoleratedPreferences(pod, info))
  const preferred =
    pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const affinity = scaled(feasible, (info) => preferredAffinity(preferred, info))
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
  const scores = nodes.map(score)
  const lowest = Math.min(...scores)
  const highest = Math.max(...scores)
  if (lowest === highest) return scores.fill(100)
  for (let i = 0; i < scores.length; i++)
    scores[i] = Math.floor((100 * (scores[i]! - lowest)) / (highest - lowest))
  return scores
}

/** Lowest to highest becomes 0 to 100; all 0 when equal. */
function scaledSums(sums: readonly number[] | undefined): readonly number[] | undefined {
  if (sums === undefined) return undefined
  const lowest = Math.min(...sums)
  const highest = Math.max(...sums)
  if (lowest === highest) return undefined
  return sums.map((sum) => Math.floor((100 * (sum - lowest)) / (highest - lowest)))
}

function untoleratedPreferences(pod: Pod, { node }: NodeInfo): number {
  const taints = node?.spec?.taints
  if (taints === undefined) return 0
  let count = 0
  for (const taint of taints)
    if (taint.effect === 'PreferNoSchedule' && !isTaintTolerated(pod.spec?.tolerations, taint))
      count++
  return count
}

function preferredAffinity(
  preferred: readonly PreferredSchedulingTerm[],
  { node }: NodeInfo,
): number {
  let sum = 0
  for (const { preference, weight } of preferred)
    if (nodeTermMatches(preference, node!)) sum += weight
  return sum
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
  return Math.floor((unallocated('cpu', scored, info) + unallocated('memory', scored, info)) / 2)
}

function unallocated(resource: 'cpu' | 'memory', scored: ScoredAmounts, info: NodeInfo): number {
  const allocatable = info.allocatable.get(resource) ?? 0
  const requested = info.scored[resource] + scored[resource]
  if (allocatable === 0 || requested > allocatable) return 0
  return Math.floor(((allocatable - requested) * 100) / allocatable)
}

function balanced(requests: ResourceAmounts, info: NodeInfo): number {
  const cpu = requests.get('cpu') ?? 0
  const memory = requests.get('memory') ?? 0
  if (cpu === 0 && memory === 0) return 0
  const withPod = balance(used('cpu', cpu, info), used('memory', memory, info))
  const without = balance(used('cpu', 0, info), used('memory', 0, info))
  return 50 + Math.floor((50 + withPod - without) / 2)
}

function balance(cpu: number, memory: number): number {
  return (1 - Math.abs(cpu - memory) / 2) * 100
}

/** The share of a resource that is taken, with so much more of it. */
function used(resource: 'cpu' | 'memory', more: number, info: NodeInfo): number {
  const taken = (info.requested.get(resource) ?? 0) + more
  return Math.min(1, taken / (info.allocatable.get(resource) || 1))
}
