/** Contract: docs/behaviour/controllers/ttl-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { Watch } from '@gyropilot/runtime'
import type { TtlSteps } from './ttl-steps.ts'

/** Counting is done here and not by workers: each event is told of exactly once. */
export function nodeWatch(steps: TtlSteps): Watch<Node> {
  return {
    type: resources.nodes,
    onAdd(node) {
      steps.added()
      return [keyOf(node)]
    },
    onUpdate: (_, node) => [keyOf(node)],
    onDelete() {
      steps.deleted()
      return []
    },
  }
}
