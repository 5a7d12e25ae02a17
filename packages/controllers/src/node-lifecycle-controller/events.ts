/**
 * Events of nodes.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, Events.
 */
import type { Node } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { EventRecord, Reconcile } from '@gyropilot/runtime'

export function registered(node: Node): EventRecord {
  const { name } = node.metadata ?? {}
  const message = `Node ${name} event: Registered Node ${name} in Controller`
  return { regarding: node, type: 'Normal', reason: 'RegisteredNode', message }
}

export function removing(node: Node): EventRecord {
  const { name } = node.metadata ?? {}
  const message = `Node ${name} event: Removing Node ${name} from Controller`
  return { regarding: node, type: 'Normal', reason: 'RemovingNode', message }
}

export function recordNotReady(node: Node): Reconcile<void> {
  const message = `Node ${node.metadata?.name} status is now: NodeNotReady`
  return recordEvent(node, 'Normal', 'NodeNotReady', message)
}
