/** Where pods of a group are fewest. Contract: docs/behaviour/simulation/scheduler.md, Scores, PodTopologySpread. Pure. */
import type { Pod, TopologySpreadConstraint } from '@gyropilot/api'
import { isCounted, isLabelledFor } from './filters/topology-spread.ts'
import { HOSTNAME, ZONE } from './node-info.ts'
import type { NodeInfo } from './node-info.ts'
import { selectedGroup } from './counted-group.ts'
import type { CountedGroup } from './counted-group.ts'
import type { Snapshot } from './snapshot.ts'

interface SpreadOf {
  readonly pod: Pod
  readonly snapshot: Snapshot
  /** Of them the scores are asked for. */
  readonly feasible: readonly NodeInfo[]
  /** Pods that should stand apart where the pod has no constraints of its own. */
  readonly group: CountedGroup | undefined
}

type Constraint = Omit<TopologySpreadConstraint, 'labelSelector' | 'whenUnsatisfiable'> & {
  readonly group: CountedGroup
}

const DEFAULT_SPREADING = [
  { topologyKey: HOSTNAME, maxSkew: 3 },
  { topologyKey: ZONE, maxSkew: 5 },
]

/**
 * In the order of the feasible nodes, 0 to 100: fewer pods of the group in the node's domains is better. The pods of all nodes of a domain
 * count, also of those that cannot take this one.
 */
export function spreadScores({ pod, snapshot, feasible, group }: SpreadOf): readonly number[] {
  const isOwn = (pod.spec?.topologySpreadConstraints ?? []).length > 0
  const constraints = isOwn ? softConstraints(pod) : defaultConstraints(group)
  // Where none of the nodes has the label it tells nothing of them.
  const usable = constraints.filter(({ topologyKey }) =>
    feasible.some((info) => info.label(topologyKey) !== undefined),
  )
  if (usable.length === 0) return feasible.map(() => 0)
  // A node that lacks a label of the pod's own constraints is in none of their domains.
  const isPlaced = (info: NodeInfo): boolean => !isOwn || isLabelledFor(constraints, info)
  const placed = feasible.map(isPlaced)
  const sums = feasible.map(() => 0)
  for (const constraint of usable) {
    const { weight, countOf } = counting(constraint, {
      pod,
      candidates: feasible.filter((_, i) => placed[i]),
      snapshot,
      isPlaced,
    })
    feasible.forEach((info, i) => {
      if (placed[i] && info.label(constraint.topologyKey) !== undefined)
        sums[i]! += countOf(info) * weight + constraint.maxSkew - 1
    })
  }
  return inverted(sums.map(Math.round), placed)
}

function softConstraints(pod: Pod): readonly Constraint[] {
  return (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway')
    .map(({ labelSelector, ...rest }) => ({ ...rest, group: selectedGroup(pod, labelSelector) }))
}

function defaultConstraints(group: CountedGroup | undefined): readonly Constraint[] {
  return group === undefined ? [] : DEFAULT_SPREADING.map((each) => ({ ...each, group }))
}

interface Counted {
  readonly pod: Pod
  /** Whose domains are of interest. */
  readonly candidates: readonly NodeInfo[]
  readonly snapshot: Snapshot
  readonly isPlaced: (info: NodeInfo) => boolean
}

/** How many of the group are in a node's domain, and how much one of them weighs: more where there are more domains. */
function counting(
  constraint: Constraint,
  { pod, candidates, snapshot, isPlaced }: Counted,
): { readonly weight: number; readonly countOf: (info: NodeInfo) => number } {
  const { topologyKey, group } = constraint
  // It has one node in each domain, and its pods are those of the node.
  if (topologyKey === HOSTNAME)
    return { weight: weightOf(candidates.length), countOf: (info) => info.countOf(group) }
  // Nodes without the label are together a domain of no name.
  const domainOf = (info: NodeInfo): string => info.label(topologyKey) ?? ''
  const counts = new Map(candidates.map((info) => [domainOf(info), 0]))
  const { nodes, tolerationOptions } = snapshot
  for (const info of nodes) {
    const count = counts.get(domainOf(info))
    if (count === undefined || !isPlaced(info)) continue
    if (!isCounted(pod, constraint, info, tolerationOptions)) continue
    counts.set(domainOf(info), count + info.countOf(group))
  }
  return { weight: weightOf(counts.size), countOf: (info) => counts.get(domainOf(info)) ?? 0 }
}

function weightOf(domains: number): number {
  return Math.log(domains + 2)
}

/** 100 * (max + min - sum) / max; 0 for nodes that are not placed. */
function inverted(sums: readonly number[], placed: readonly boolean[]): readonly number[] {
  let most = 0
  let fewest = Infinity
  sums.forEach((sum, i) => {
    if (!placed[i]) return
    most = Math.max(most, sum)
    fewest = Math.min(fewest, sum)
  })
  return sums.map((sum, i) => {
    if (!placed[i]) return 0
    return most === 0 ? 100 : Math.floor((100 * (most + fewest - sum)) / most)
  })
}
