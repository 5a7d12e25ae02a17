/**
 * Which of the nodes that were missing long enough are really gone.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md, Sync, step 3.
 */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { getLive } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'

/**
 * Gone is what neither the cache of this scan nor the server has. A server that cannot say leaves
 * the node for a later scan.
 */
export function* deletedNodes(
  names: Iterable<string>,
  nodes: ReadonlyMap<string, Node>,
): Reconcile<ReadonlySet<string>> {
  const deleted = new Set<string>()
  for (const name of names) {
    if (nodes.has(name)) continue
    const live = yield* getLive(resources.nodes, undefined, name)
    if (!live.ok && isNotFound(live.error)) deleted.add(name)
  }
  return deleted
}
