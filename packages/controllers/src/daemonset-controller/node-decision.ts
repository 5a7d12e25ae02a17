/**
 * Whether a node should run a pod of a DaemonSet: what the scheduler would say of labels, names and
 * taints, and nothing of what changes with load.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Should a node run the pod.
 */
import { isTaintTolerated, nodeAffinityMatches } from '@gyropilot/api'
import type { DaemonSet, Node, PodTemplateSpec, TolerationOptions } from '@gyropilot/api'
import { daemonTolerations } from './tolerations.ts'

export interface NodeDecision {
  /** A pod belongs there. */
  readonly shouldRun: boolean
  /** A pod that is there may stay. */
  readonly shouldContinueRunning: boolean
}

export type DecideNode = (daemonSet: DaemonSet, node: Node) => NodeDecision

const NEVER: NodeDecision = { shouldRun: false, shouldContinueRunning: false }
const STAYS: NodeDecision = { shouldRun: false, shouldContinueRunning: true }
const RUNS: NodeDecision = { shouldRun: true, shouldContinueRunning: true }

/**
 * Templates and nodes in caches are shared and never edited, so a decision stays true: a sync of a
 * large cluster asks several times for each node, and only few nodes have changed since the last.
 */
export function nodeDecisions(options: TolerationOptions = {}): DecideNode {
  const byTemplate = new WeakMap<PodTemplateSpec, WeakMap<Node, NodeDecision>>()
  return ({ spec }, node) => {
    const template = spec?.template
    if (template === undefined) return NEVER
    let decisions = byTemplate.get(template)
    if (decisions === undefined) byTemplate.set(template, (decisions = new WeakMap()))
    let decision = decisions.get(node)
    if (decision === undefined) decisions.set(node, (decision = decide(template, node, options)))
    return decision
  }
}

function decide({ spec }: PodTemplateSpec, node: Node, options: TolerationOptions): NodeDecision {
  // 1.
  if (spec?.nodeName && spec.nodeName !== node.metadata?.name) return NEVER
  // 2.
  if (!nodeAffinityMatches(spec, node)) return NEVER
  // 3.
  const tolerations = daemonTolerations(spec)
  const isRepelled = (effect: string): boolean =>
    (node.spec?.taints ?? []).some(
      (taint) => taint.effect === effect && !isTaintTolerated(tolerations, taint, options),
    )
  if (isRepelled('NoExecute')) return NEVER
  return isRepelled('NoSchedule') ? STAYS : RUNS
}
