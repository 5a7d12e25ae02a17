/**
 * Events of nodes.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, Events.
 */
import type { Node } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { EventRecord, Reconcile } from '@gyropilot/runtime'
import { nodeReference } from '../node-support/node-reference.ts'

export function registered(node: Node): EventRecord {
  const { name } = node.metadata ?? {}
  const message = `Node ${name} event: Registered Node ${name} in Controller`
  return { regarding: nodeReference(node), type: 'Normal', reason: 'RegisteredNode', message }
}

export function removing(node: Node): EventRecord {
  const { name } = node.metadata ?? {}
  const message = `Node ${name} event: Removing Node ${name} from Controller`
  return { regarding: nodeReference(node), type: 'Normal', reason: 'RemovingNode', message }
}

export function recordNotReady(node: Node): Reconcile<void> {
  const message = `Node ${node.metadata?.name} status is now: NodeNotReady`
  return recordEvent(nodeReference(node), 'Normal', 'NodeNotReady', message)
}
