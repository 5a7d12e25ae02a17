/**
 * A condition DisruptionTarget that announced what did not happen.
 * Contract: docs/behaviour/controllers/disruption-controller.md, Stale DisruptionTarget.
 */
import { findCondition, isPodFinished, parseTime, resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, patch, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { conditionPatch } from '../workload-support/condition-patch.ts'
import { STALE_CONDITION_TIMEOUT_MS } from './config.ts'

const DISRUPTION_TARGET = 'DisruptionTarget'
/** The kubelet keeps its own word. */
const TERMINATION_BY_KUBELET = 'TerminationByKubelet'

/** How long until the pod's announcement is stale; 0: it is. Undefined: there is none that could be. */
export function staleAfterMs(pod: Pod, nowMs: number): number | undefined {
  if (pod.metadata?.deletionTimestamp !== undefined || isPodFinished(pod)) return undefined
  const condition = findCondition(pod.status?.conditions, DISRUPTION_TARGET)
  if (condition?.status !== 'True' || condition.reason === TERMINATION_BY_KUBELET) return undefined
  const sinceMs = parseTime(condition.lastTransitionTime) ?? -Infinity
  return Math.max(0, STALE_CONDITION_TIMEOUT_MS - (nowMs - sinceMs))
}

/** Takes the announcement back: the condition stays, and is False. */
export function* reconcileStalePod(pod: Pod): Reconcile {
  const nowMs = yield* currentTimeMs()
  const afterMs = staleAfterMs(pod, nowMs)
  if (afterMs === undefined) return
  if (afterMs > 0) return { requeueAfterMs: afterMs }
  // The condition alone, of this version: the cache need not have the rest.
  const { resourceVersion } = pod.metadata ?? {}
  const value = {
    metadata: { resourceVersion },
    status: conditionPatch(pod, takenBack(pod, nowMs)),
  }
  const updated = yield* write(patch(resources.pods, pod, { type: 'strategic', value }, 'status'))
  return updated.ok ? undefined : { error: updated.error }
}

/** A merge empties what is null. */
function takenBack({ metadata }: Pod, nowMs: number) {
  return {
    type: DISRUPTION_TARGET,
    status: 'False',
    reason: null,
    message: null,
    lastTransitionTime: formatTime(nowMs),
    ...(metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  }
}
