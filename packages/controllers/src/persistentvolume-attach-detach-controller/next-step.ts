/**
 * What comes next for a volume at a node. Step numbers are those of
 * docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Reconcile loop. Pure.
 */
import { isConditionTrue } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { Attachment } from './actual-world.ts'
import { OUT_OF_SERVICE_TAINT, UNMOUNT_WAIT_MS } from './config.ts'
import type { DesiredAttachment } from './desired-world.ts'

/** Why the node is not asked first whether it still uses the volume. */
export type ForceReason = 'timeout' | 'out-of-service'

type DetachStep =
  /** For an event, or until then, in elapsed milliseconds. */
  | { readonly kind: 'wait'; readonly untilMs?: number }
  | { readonly kind: 'detach'; readonly force?: ForceReason }

interface DetachCircumstances {
  /** Elapsed milliseconds, as all times here. */
  readonly nowMs: number
  readonly requestedMs: number
  readonly node: Node | undefined
  readonly isTimeoutForced: boolean
}

/** 3. and 4. */
export function detachStep(
  { isMounted }: Attachment,
  { nowMs, requestedMs, node, isTimeoutForced }: DetachCircumstances,
): DetachStep {
  const isTimedOut = isTimeoutForced && nowMs - requestedMs > UNMOUNT_WAIT_MS
  const isOutOfService = hasOutOfServiceTaint(node)
  const mayForce = isOutOfService || (isTimedOut && !isReady(node))
  if (isMounted && !mayForce) {
    if (!isTimeoutForced || isTimedOut) return { kind: 'wait' }
    return { kind: 'wait', untilMs: requestedMs + UNMOUNT_WAIT_MS + 1 }
  }
  if (isTimedOut) return { kind: 'detach', force: 'timeout' }
  return isOutOfService ? { kind: 'detach', force: 'out-of-service' } : { kind: 'detach' }
}

/** A node that is gone is not ready. */
function isReady(node: Node | undefined): boolean {
  return isConditionTrue(node?.status?.conditions, 'Ready')
}

function hasOutOfServiceTaint(node: Node | undefined): boolean {
  return (node?.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE_TAINT)
}

type AttachStep = 'attached' | 'attach' | 'refused'

/** 2. and 3. What may be attached elsewhere, but is not for certain, does not stand in the way. */
export function attachStep(
  { nodeName }: DesiredAttachment,
  attachments: readonly Attachment[],
  mayHaveSeveral: boolean,
): AttachStep {
  const confirmed = attachments.filter(({ isConfirmed }) => isConfirmed)
  if (confirmed.some((attachment) => attachment.nodeName === nodeName)) return 'attached'
  return mayHaveSeveral || confirmed.length === 0 ? 'attach' : 'refused'
}
