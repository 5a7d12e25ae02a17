/** How much a feasible node suits a pod. Contract: docs/behaviour/simulation/scheduler.md, Scores. Pure. */
import { isTaintTolerated, nodeTermMatches, podRequests } from '@gyropilot/api'
import type { Pod, PreferredSchedulingTerm, ResourceAmounts } from '@gyropilot/api'
import { affinitySums } from './affinity-scores.ts'
import { scoredAmounts } from './node-info.ts'
import type { NodeInfo, ScoredAmounts } from './node-info.ts'
import type { CountedGroup } from './counted-group.ts'
import type { Snapshot } from './snapshot.ts'
import { spreadScores } from './spread-scores.ts'

/**
 * In the order of the nodes. Asked for some hundred nodes of each pod: nothing is made for a node but its scores. `group`: pods that should stand apart by default: what a Service, ReplicaSet or StatefulSet of the pod selects.
 */
export function scoreNodes(
  pod: Pod,
  snapshot: Snapshot,
  feasible: readonly NodeInfo[],
  group: CountedGroup | undefined,
): readonly number[] {
  const taints = shares(feasible, (info) => untoleratedPreferences(pod, info, snapshot))
  const preferred =
    pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution
  const affinity = preferred && shares(feasible, (info) => preferredAffinity(preferred, info))
  const spread = spreadScores({ pod, snapshot, feasible, group })
  const between = scaledSums(affinitySums(pod, feasible, snapshot))
  const requests = podRequests(pod)
  const scored = scoredAmounts(pod)
  return feasible.map(
    (info, i) =>
      3 * (100 - taints[i]!) +
      2 * (affinity?.[i] ?? 0) +
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

/** Hundredths of the highest; all 0 when that is 0. */
function shares(nodes: readonly NodeInfo[], score: (info: NodeInfo) => number): readonly number[] {
  const scores = nodes.map(score)
  const highest = Math.max(...scores)
  if (highest === 0) return scores
  for (let i = 0; i < scores.length; i++) scores[i] = Math.floor((100 * scores[i]!) / highest)
  return scores
}

/** Lowest to highest becomes 0 to 100; all 0 when equal. */
function scaledSums(sums: readonly number[] | undefined): readonly number[] | undefined {
  if (sums === undefined) return undefined
  const lowest = Math.min(...sums)
  const highest = Math.max(...sums)
  if (lowest === highest) return undefined
  // In this order, so that it is rounded as upstream does.
  return sums.map((sum) => Math.floor(100 * ((sum - lowest) / (highest - lowest))))
}

function untoleratedPreferences(
  { spec }: Pod,
  { taints }: NodeInfo,
  { tolerationOptions }: Snapshot,
): number {
  let count = 0
  for (const taint of taints) {
    if (taint.effect !== 'PreferNoSchedule') continue
    if (!isTaintTolerated(spec?.tolerations, taint, tolerationOptions)) count++
  }
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

function leastAllocated(scored: ScoredAmounts, info: NodeInfo): number {
  return Math.floor((unallocated('cpu', scored, info) + unallocated('memory', scored, info)) / 2)
}

function unallocated(resource: 'cpu' | 'memory', scored: ScoredAmounts, info: NodeInfo): number {
  const allocatable = info.allocatable[resource]
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
  return Math.min(1, (info.requested[resource] + more) / (info.allocatable[resource] || 1))
}
