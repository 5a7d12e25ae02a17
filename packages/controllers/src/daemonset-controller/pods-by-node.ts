/**
 * Pods of a DaemonSet by the node they are meant for.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Pods by node.
 */
import { isPodFinished, isTerminating } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { targetNodeOf } from './daemon-pod.ts'

export type PodsByNode = ReadonlyMap<string, readonly Pod[]>

/**
 * Without pods that are over and on their way out: their node gets another at once. Pods without a
 * node are nobody's.
 */
export function podsByNode(pods: readonly Pod[]): PodsByNode {
  const byNode = new Map<string, Pod[]>()
  for (const pod of pods) {
    if (isPodFinished(pod) && isTerminating(pod)) continue
    const node = targetNodeOf(pod)
    if (node === undefined) continue
    const known = byNode.get(node)
    if (known === undefined) byNode.set(node, [pod])
    else known.push(pod)
  }
  return byNode
}
