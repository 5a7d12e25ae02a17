/**
 * The condition that says of a pod that something other than its own end is about to end it.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Status and conditions.
 */
import { findCondition } from '@gyropilot/api'
import type { Pod, PodCondition } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'

const DISRUPTION_TARGET = 'DisruptionTarget'

/** A pod that has the condition keeps the time since when. */
export function disruptionTarget(
  pod: Pod,
  nowMs: number,
  reason: string,
  message: string,
): PodCondition {
  const { generation } = pod.metadata ?? {}
  const known = findCondition(pod.status?.conditions, DISRUPTION_TARGET)
  return {
    type: DISRUPTION_TARGET,
    status: 'True',
    reason,
    message,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime:
      known?.status === 'True' && known.lastTransitionTime !== undefined
        ? known.lastTransitionTime
        : formatTime(nowMs),
  }
}

/** Whether the pod says so already. The generation that it was said at is no difference. */
export function hasCondition({ status }: Pod, wanted: PodCondition): boolean {
  const known = findCondition(status?.conditions, wanted.type)
  return (
    known?.status === wanted.status &&
    known.reason === wanted.reason &&
    known.message === wanted.message
  )
}
