/**
 * What a change of a node means for DaemonSets. Nodes have a queue of their own, so that a burst of
 * them does not keep DaemonSets waiting, and each is judged by the few pods that are on it.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Watches and keys.
 */
import { controllerOf, keyOf, resources, semanticEqual } from '@gyropilot/api'
import type { DaemonSet, Node, Pod } from '@gyropilot/api'
import type { Watch } from '@gyropilot/runtime'
import type { DecideNode } from './node-decision.ts'

/** Heartbeats, conditions and resources change no decision. */
export const nodeWatch: Watch<Node> = {
  type: resources.nodes,
  onAdd: ({ metadata }) => [metadata?.name ?? ''],
  onUpdate: (previous, current) =>
    semanticEqual(previous.metadata?.labels, current.metadata?.labels) &&
    semanticEqual(previous.spec?.taints, current.spec?.taints)
      ? []
      : [current.metadata?.name ?? ''],
}

/**
 * Keys of the DaemonSets for which the node has a pod too few or too many, or may have had. Pods of a former namesake are none
 * of theirs, and a pod that is older than its node was counted while there was no such node.
 */
export function concernedBy(
  node: Node,
  daemonSets: readonly DaemonSet[],
  podsOnNode: readonly Pod[],
  decide: DecideNode,
): readonly string[] {
  const byOwner = Map.groupBy(podsOnNode, (pod) => {
    const owner = controllerOf(pod)
    return owner?.kind === 'DaemonSet' ? owner.uid : undefined
  })
  return daemonSets
    .filter((daemonSet) => {
      const { shouldRun, shouldContinueRunning } = decide(daemonSet, node)
      const own = byOwner.get(daemonSet.metadata?.uid)
      if (own === undefined) return shouldRun
      if (shouldRun && own.some((pod) => isOlder(pod, node))) return true
      return !shouldContinueRunning || (daemonSet.status?.numberMisscheduled ?? 0) > 0
    })
    .map(keyOf)
}

function isOlder(pod: Pod, node: Node): boolean {
  return (pod.metadata?.creationTimestamp ?? '') < (node.metadata?.creationTimestamp ?? '')
}
