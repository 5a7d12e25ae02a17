/** One sync of a Node. Step numbers are those of docs/behaviour/controllers/node-ipam-controller.md, Per node. */
import { isTerminating, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import { patch, recordEvent, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { nodeReference } from '../node-support/node-reference.ts'
import { PATCH_TRIES } from './config.ts'
import type { NodeRanges, Proposal } from './node-ranges.ts'

export function* reconcile(node: Node, ranges: NodeRanges): Reconcile {
  // 1. What is on its way out gets nothing.
  if (isTerminating(node)) return
  // 2.
  if ((node.spec?.podCIDRs ?? []).length > 0) {
    const error = ranges.occupy(node)
    return error && { error }
  }
  // 3. and 4. The cache was read a moment ago, and nothing was waited for since.
  const proposal = ranges.propose(node)
  if (proposal === undefined) {
    yield* tell(node, 'CIDRNotAvailable')
    const full = `failed to allocate cidr from cluster cidr at idx:${ranges.fullSet()}`
    return {
      error: new Error(
        `${full}: CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range`,
      ),
    }
  }
  if (proposal.isWritten) return
  return yield* assign(node, proposal, ranges)
}

/** 5. and 6. */
function* assign(node: Node, { cidrs }: Proposal, ranges: NodeRanges): Reconcile {
  const { name = '', uid } = node.metadata ?? {}
  // A namesake must not get it: when the node is seen to go, its part is given to another.
  const value = { metadata: { uid }, spec: { podCIDR: cidrs[0], podCIDRs: cidrs } }
  let mayBeWritten = false
  let outcome: Outcome | undefined
  for (let tries = 0; tries < PATCH_TRIES; tries++) {
    outcome = yield* write(patch(resources.nodes, node, { type: 'strategic', value }))
    if (outcome.ok) {
      ranges.written(name)
      return
    }
    mayBeWritten ||= !isRefusal(outcome.error)
  }
  yield* tell(node, 'CIDRAssignmentFailed')
  // Somebody else must not get what this node may have.
  if (!mayBeWritten) ranges.refused(name)
  const cause = outcome?.ok === false ? outcome.error : undefined
  return { error: new Error(`failed to patch node CIDR: ${errorText(cause)}`, { cause }) }
}

/** Whether the server has certainly not done it: it said no before it wrote anything. */
function isRefusal(error: unknown): boolean {
  return error instanceof StatusError && error.code < 500
}

function tell(node: Node, reason: string): Reconcile<void> {
  const message = `Node ${node.metadata?.name} status is now: ${reason}`
  return recordEvent(nodeReference(node), 'Normal', reason, message)
}
