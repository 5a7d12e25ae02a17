/** Contract: docs/behaviour/controllers/cloud-node-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { Watch } from '@gyropilot/runtime'

/** Resyncs are looked at too: a node whose cloud did not answer for it is asked about again. */
export const nodeWatch: Watch<Node> = {
  type: resources.nodes,
  onAdd: (node) => [keyOf(node)],
  onUpdate: (_previous, node) => [keyOf(node)],
}
