/** One sync of a Node. Step numbers are those of docs/behaviour/controllers/ttl-controller.md; 1 is the shell's. */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { patch, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { TTL_ANNOTATION } from './config.ts'

const INTEGER = /^[+-]?\d+$/

export function* reconcile(node: Node, ttlSeconds: number): Reconcile {
  // 3. A number is compared, not its text.
  const text = node.metadata?.annotations?.[TTL_ANNOTATION] ?? ''
  if (INTEGER.test(text) && Number(text) === ttlSeconds) return
  // 4. Nothing but the annotation: others write this Node all the time.
  const value = { metadata: { annotations: { [TTL_ANNOTATION]: String(ttlSeconds) } } }
  const outcome = yield* write(patch(resources.nodes, node, { type: 'strategic', value }))
  return outcome.ok ? undefined : { error: outcome.error }
}
