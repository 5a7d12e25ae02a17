/** What the scheduler counts on a node: bound pods until they are deleted or finished, and pods just assumed there. */
import type { Container, Node, Pod, Taint } from '@gyropilot/api'
import { amountsOf, podRequests } from '@gyropilot/api'
import type { ResourceAmounts } from '@gyropilot/api'
import { isInclined } from './affinity-terms.ts'
import { GroupCounts } from './counted-group.ts'
import type { CountedGroup } from './counted-group.ts'
import { NodeAmounts } from './node-amounts.ts'

/** What a container without requests counts in the score of free resources. */
const ASSUMED: ResourceAmounts = new Map([
  ['cpu', 100],
  ['memory', 200 * 2 ** 20],
])

export interface ScoredAmounts {
  readonly cpu: number
  readonly memory: number
}

/** What a pod takes of its node, and what it counts in that score. */
interface PodAmounts {
  readonly requests: ResourceAmounts
  readonly scored: ScoredAmounts
}

/** Requests as that score reads them: a container without a request counts a little. */
export function scoredAmounts(pod: Pod): ScoredAmounts {
  return scoredOf(podRequests(pod, { missing: ASSUMED, withStatus: true }))
}

function scoredOf(requests: ResourceAmounts): ScoredAmounts {
  return { cpu: requests.get('cpu') ?? 0, memory: requests.get('memory') ?? 0 }
}

/** Nothing is assumed of such a pod. */
function asksForAll({ spec }: Pod): boolean {
  const asks = ({ resources }: Container): boolean =>
    resources?.requests?.['cpu'] !== undefined && resources.requests['memory'] !== undefined
  return (spec?.containers ?? []).every(asks) && (spec?.initContainers ?? []).every(asks)
}

const NO_TAINTS: readonly Taint[] = []
const NOBODY: ReadonlySet<string> = new Set()
export const HOSTNAME = 'kubernetes.io/hostname'
export const ZONE = 'topology.kubernetes.io/zone'

/** Labels are what somebody wrote: `constructor` may be one. What all objects have by that name is no text. */
function labelOf(node: Node | undefined, key: string): string | undefined {
  const value: unknown = node?.metadata?.labels?.[key]
  return typeof value === 'string' ? value : undefined
}

export class NodeInfo {
  readonly name: string
  /** Undefined: pods are bound to a node that has no object; it is no candidate. */
  node: Node | undefined
  /** Of the node. */
  taints = NO_TAINTS
  /** Of the node. */
  unschedulable = false
  readonly allocatable = new NodeAmounts()
  readonly requested = new NodeAmounts()
  readonly pods = new Map<string, Pod>()
  readonly scored = { cpu: 0, memory: 0 }
  /** Of the pods, those that keep others away. */
  readonly repelling = new Map<string, Pod>()
  /** Those that would have others near or far. */
  readonly inclined = new Map<string, Pod>()
  #hostname: string | undefined
  #zone: string | undefined
  readonly #groups = new GroupCounts()
  readonly #amounts = new Map<string, PodAmounts>()

  constructor(name: string) {
    this.name = name
  }

  setNode(node: Node | undefined): void {
    this.node = node
    this.taints = node?.spec?.taints ?? NO_TAINTS
    this.unschedulable = node?.spec?.unschedulable === true
    this.#hostname = labelOf(node, HOSTNAME)
    this.#zone = labelOf(node, ZONE)
    this.allocatable.set(amountsOf(node?.status?.allocatable))
  }

  /** Those by which pods are spread as a rule are asked for of every node for most pods. */
  label(key: string): string | undefined {
    if (key === HOSTNAME) return this.#hostname
    return key === ZONE ? this.#zone : labelOf(this.node, key)
  }

  /** True when it was here already, and takes less of something now. */
  addPod(pod: Pod): boolean {
    const uid = pod.metadata?.uid ?? ''
    const taken = this.#amounts.get(uid)?.requests
    const before = this.#take(uid)
    const requests = podRequests(pod, { withStatus: true })
    const scored = asksForAll(pod) ? scoredOf(requests) : scoredAmounts(pod)
    this.#groups.replaced(before, pod)
    this.#add(pod, { requests, scored })
    return taken !== undefined && isLess(requests, taken)
  }

  /** All but what groups count of it. */
  #add(pod: Pod, amounts: PodAmounts): void {
    const uid = pod.metadata?.uid ?? ''
    this.pods.set(uid, pod)
    if (repels(pod)) this.repelling.set(uid, pod)
    if (isInclined(pod)) this.inclined.set(uid, pod)
    this.#amounts.set(uid, amounts)
    this.#count(amounts.requests, amounts.scored, 1)
  }

  removePod(uid: string): boolean {
    const removed = this.#take(uid)
    this.#groups.replaced(removed, undefined)
    return removed !== undefined
  }

  /** All but what groups count of it. */
  #take(uid: string): Pod | undefined {
    const pod = this.pods.get(uid)
    if (pod === undefined) return undefined
    const { requests, scored } = this.#amounts.get(uid)!
    this.#count(requests, scored, -1)
    this.#amounts.delete(uid)
    this.pods.delete(uid)
    this.repelling.delete(uid)
    this.inclined.delete(uid)
    return pod
  }

  /** How many pods of the group are here and stay. */
  countOf(group: CountedGroup): number {
    return this.#groups.of(group, this.pods.values())
  }

  /** The node as it would be without these pods, by uid. */
  without(uids: ReadonlySet<string>): NodeInfo {
    const copy = new NodeInfo(this.name)
    copy.setNode(this.node)
    for (const [uid, pod] of this.pods) if (!uids.has(uid)) copy.#add(pod, this.#amounts.get(uid)!)
    return copy
  }

  /** The node as it would be with these pods too. */
  with(pods: readonly Pod[]): NodeInfo {
    const copy = this.without(NOBODY)
    for (const pod of pods) copy.addPod(pod)
    return copy
  }

  #count(requests: ResourceAmounts, scored: ScoredAmounts, times: 1 | -1): void {
    this.requested.add(requests, times)
    this.scored.cpu += times * scored.cpu
    this.scored.memory += times * scored.memory
  }
}

/** Of any resource. */
function isLess(amounts: ResourceAmounts, before: ResourceAmounts): boolean {
  for (const [resource, amount] of before) if ((amounts.get(resource) ?? 0) < amount) return true
  return false
}

function repels({ spec }: Pod): boolean {
  const terms = spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return (terms ?? []).length > 0
}
