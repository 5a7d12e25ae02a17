/**
 * Which old pods make room for new ones, and where new ones start beside old ones.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Rolling update.
 */
import { isPodAvailable, isTerminating, resolveIntOrPercent } from '@gyropilot/api'
import type { DaemonSet, Node, Pod } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { isUpdatedTo } from './daemon-pod.ts'
import type { DecideNode } from './node-decision.ts'
import type { PodsByNode } from './pods-by-node.ts'

interface RollInput {
  readonly daemonSet: DaemonSet
  readonly hash: string
  readonly nodes: readonly Node[]
  readonly pods: PodsByNode
  readonly decide: DecideNode
  /** From the cache, which may know more than `nodes` by now, and less. */
  nodeNamed(name: string): Node | undefined
  readonly nowMs: number
}

interface RollPlan {
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
}

/** Throws when a node of a pod is not there, or a share is none. */
export function planRoll(input: RollInput): RollPlan {
  const states = nodeStates(input)
  const { maxSurge, maxUnavailable } = limitsOf(input.daemonSet, states.desired)
  return maxSurge === 0
    ? planReplacing(states, maxUnavailable)
    : planSurging(states, maxSurge, input)
}

interface NodeState {
  readonly node: string
  /** More pods than a rollout can have there. */
  readonly isExcess: boolean
  readonly old: Pod | undefined
  readonly updated: Pod | undefined
}

interface NodeStates {
  /** Nodes that should run a pod. */
  readonly desired: number
  readonly all: readonly NodeState[]
  isAvailable(pod: Pod): boolean
}

/** Shares are of the nodes that should run a pod, and rounded up. With both 0 nothing could move. */
export function limitsOf(
  { spec }: DaemonSet,
  desired: number,
): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const { maxSurge, maxUnavailable } = spec?.updateStrategy?.rollingUpdate ?? {}
  const surge = resolveIntOrPercent(maxSurge ?? 0, desired, 'up')
  const unavailable = resolveIntOrPercent(maxUnavailable ?? 0, desired, 'up')
  const isStuck = desired > 0 && surge === 0 && unavailable === 0
  return { maxSurge: surge, maxUnavailable: isStuck ? 1 : unavailable }
}

function nodeStates({ daemonSet, hash, nodes, pods, decide, nowMs }: RollInput): NodeStates {
  const isUpdated = isUpdatedTo(daemonSet, hash)
  const all: NodeState[] = []
  for (const [node, found] of pods) all.push(stateOf(node, found, isUpdated))
  let desired = 0
  for (const node of nodes) {
    if (!decide(daemonSet, node).shouldRun) continue
    desired += 1
    const name = node.metadata?.name ?? ''
    if (!pods.has(name)) all.push(stateOf(name, [], isUpdated))
  }
  const minReadySeconds = daemonSet.spec?.minReadySeconds ?? 0
  return {
    desired,
    all,
    isAvailable: (pod) => isPodAvailable(pod, minReadySeconds, nowMs),
  }
}

function stateOf(node: string, pods: readonly Pod[], isUpdated: (pod: Pod) => boolean): NodeState {
  let old: Pod | undefined
  let updated: Pod | undefined
  let isExcess = false
  for (const pod of pods) {
    if (isTerminating(pod)) continue
    if (isUpdated(pod)) {
      isExcess ||= updated !== undefined
      updated = pod
    } else {
      isExcess ||= old !== undefined
      old = pod
    }
  }
  return { node, isExcess, old, updated }
}

/** Old pods go first; the next sync makes new ones where they were. */
function planReplacing(states: NodeStates, maxUnavailable: number): RollPlan {
  let unavailable = 0
  const replaced: Pod[] = []
  const candidates = new Map<string, Pod>()
  for (const { node, isExcess, old, updated } of states.all) {
    if (isExcess || (old === undefined) === (updated === undefined)) {
      unavailable += 1
    } else if (old === undefined) {
      if (!states.isAvailable(updated!)) unavailable += 1
    } else if (states.isAvailable(old)) {
      candidates.set(node, old)
    } else {
      replaced.push(old)
      unavailable += 1
    }
  }
  const room = Math.max(0, maxUnavailable - unavailable)
  return { create: [], remove: [...replaced, ...firstByName(candidates, room)] }
}

/** New pods start beside old ones, which go when the new ones are available. */
function planSurging(states: NodeStates, maxSurge: number, input: RollInput): RollPlan {
  let surge = 0
  let available = 0
  const create: string[] = []
  const candidates = new Map<string, string>()
  const remove: Pod[] = []
  const misplaced = new Map<string, Pod>()
  for (const { node, isExcess, old, updated } of states.all) {
    if (isExcess) {
      surge += 1
      continue
    }
    const serving = [old, updated].some((pod) => pod !== undefined && states.isAvailable(pod))
    if (serving) available += 1
    if (old === undefined) continue
    if (updated !== undefined) {
      if (states.isAvailable(updated)) remove.push(old)
      else surge += 1
      continue
    }
    const { shouldRun } = input.decide(input.daemonSet, nodeOf(node, input))
    if (!states.isAvailable(old)) {
      if (shouldRun) create.push(node)
      else remove.push(old)
    } else if (shouldRun) candidates.set(node, node)
    else misplaced.set(node, old)
  }
  // Who moves from one node to another stays on the first until the second serves.
  const deletable = Math.max(0, available - states.desired)
  const room = Math.max(0, maxSurge - surge)
  return {
    create: [...create, ...firstByName(candidates, room)],
    remove: [...remove, ...firstByName(misplaced, deletable)],
  }
}

/** So that one cluster is always rolled in the same order. */
function firstByName<T>(byNode: ReadonlyMap<string, T>, count: number): readonly T[] {
  if (count === 0) return []
  const sorted = [...byNode].toSorted(([left], [right]) => compareStrings(left, right))
  return sorted.slice(0, count).map(([, value]) => value)
}

function nodeOf(name: string, { nodeNamed }: RollInput): Node {
  const node = nodeNamed(name)
  if (node === undefined) throw new Error(`couldn't get node for nodeName "${name}": not found`)
  return node
}
