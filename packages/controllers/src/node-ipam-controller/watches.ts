/** Contract: docs/behaviour/controllers/node-ipam-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import type { NodeRanges } from './node-ranges.ts'

/** What a deleted node had is free at once, not when a worker comes to it. */
export function nodeWatch(ranges: NodeRanges, onGone: (uid: string) => void): Watch<Node> {
  return {
    type: resources.nodes,
    onAdd: (node) => [keyOf(node)],
    onUpdate(previous, node) {
      if (previous.metadata?.uid !== node.metadata?.uid) {
        onGone(previous.metadata?.uid ?? '')
        ranges.replaced(previous, node)
      }
      return [keyOf(node)]
    },
    onDelete(deleted) {
      if (deleted instanceof DeletedFinalStateUnknown) ranges.deleted(deleted.key, undefined)
      else {
        onGone(deleted.metadata?.uid ?? '')
        ranges.deleted(keyOf(deleted), deleted)
      }
      return []
    },
  }
}
