/**
 * What each node lacks, and what is too much on it.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Manage.
 */
import { isPodAvailable, isPodReady, isTerminating, resolveIntOrPercent } from '@gyropilot/api'
import type { DaemonSet, Node, Pod } from '@gyropilot/api'
import { HASH_LABEL, compareDaemonPods } from './daemon-pod.ts'
import type { DecideNode, NodeDecision } from './node-decision.ts'
import type { PodsByNode } from './pods-by-node.ts'

/** Remembers nodes whose pods keep failing. */
export interface FailedPodBackoff {
  /** Undefined: the failed pod may be replaced now. */
  waitMs(id: string): number | undefined
  /** A failed pod is replaced. */
  replaced(id: string): void
}

interface NodePlan {
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
  /** Of those to be removed: what users are told about. */
  readonly ended: readonly { readonly pod: Pod; readonly node: string }[]
  /** Until a failed pod may be replaced. */
  readonly waitMs: number | undefined
}

interface PlanInput {
  readonly daemonSet: DaemonSet
  readonly hash: string
  readonly nodes: readonly Node[]
  readonly pods: PodsByNode
  readonly decide: DecideNode
  readonly failedPods: FailedPodBackoff
  readonly nowMs: number
}

export function planNodes(input: PlanInput): NodePlan {
  const plan = new GrowingPlan(input)
  const names = new Set<string>()
  for (const node of input.nodes) {
    const name = node.metadata?.name ?? ''
    names.add(name)
    plan.addNode(name, input.decide(input.daemonSet, node))
  }
  for (const [name, pods] of input.pods) if (!names.has(name)) plan.addMissingNode(pods)
  return plan
}

/** More new pods than old ones may be on a node while it is rolled. */
export function allowsSurge({ spec }: DaemonSet): boolean {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return false
  try {
    return resolveIntOrPercent(rollingUpdate?.maxSurge ?? 0, 1, 'up') > 0
  } catch {
    return false
  }
}

class GrowingPlan implements NodePlan {
  readonly create: string[] = []
  readonly remove: Pod[] = []
  readonly ended: { readonly pod: Pod; readonly node: string }[] = []
  waitMs: number | undefined
  readonly #input: PlanInput
  readonly #surges: boolean
  readonly #backoffPrefix: string

  constructor(input: PlanInput) {
    this.#input = input
    this.#surges = allowsSurge(input.daemonSet)
    const { metadata, status } = input.daemonSet
    this.#backoffPrefix = `${metadata?.uid}/${status?.observedGeneration ?? 0}/`
  }

  addNode(name: string, { shouldRun, shouldContinueRunning }: NodeDecision): void {
    const pods = this.#input.pods.get(name)
    if (pods === undefined) {
      if (shouldRun) this.create.push(name)
      return
    }
    const staying = pods.filter((pod) => !isTerminating(pod))
    if (!shouldContinueRunning) {
      this.remove.push(...staying)
      return
    }
    const running = this.#withoutEnded(name, staying)
    if (!this.#surges) {
      this.remove.push(...running.toSorted(compareDaemonPods).slice(1))
    } else if (running.length === 0) {
      if (shouldRun) this.create.push(name)
    } else this.#prune(running)
  }

  /** Nobody will ever bind these; bound ones are the pod garbage collector's. */
  addMissingNode(pods: readonly Pod[]): void {
    this.remove.push(...pods.filter((pod) => !pod.spec?.nodeName && !isTerminating(pod)))
  }

  #withoutEnded(node: string, pods: readonly Pod[]): readonly Pod[] {
    return pods.filter((pod) => {
      const phase = pod.status?.phase
      if (phase === 'Failed') {
        if (this.#mayReplaceFailed(node)) this.#end(pod, node)
        return false
      }
      if (phase === 'Succeeded') {
        this.#end(pod, node)
        return false
      }
      return true
    })
  }

  #end(pod: Pod, node: string): void {
    this.ended.push({ pod, node })
    this.remove.push(pod)
  }

  #mayReplaceFailed(node: string): boolean {
    const { failedPods } = this.#input
    const id = this.#backoffPrefix + node
    const waitMs = failedPods.waitMs(id)
    if (waitMs === undefined) {
      failedPods.replaced(id)
      return true
    }
    this.waitMs = Math.min(this.waitMs ?? Infinity, waitMs)
    return false
  }

  /** One old and one new pod may be on the node, until the new one can stand alone. */
  #prune(running: readonly Pod[]): void {
    const { hash, daemonSet, nowMs } = this.#input
    let newest: Pod | undefined
    let old: Pod | undefined
    for (const pod of running.toSorted(compareDaemonPods)) {
      const isNew = pod.metadata?.labels?.[HASH_LABEL] === hash
      if (isNew && newest === undefined) newest = pod
      else if (!isNew && old === undefined) old = pod
      else this.remove.push(pod)
    }
    if (newest === undefined || old === undefined) return
    const minReadySeconds = daemonSet.spec?.minReadySeconds ?? 0
    if (!isPodReady(old) || isPodAvailable(newest, minReadySeconds, nowMs)) this.remove.push(old)
  }
}
