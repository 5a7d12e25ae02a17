/**
 * The end of one pod: it is declared failed, so that its owner can count on it, and then deleted
 * without grace.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md, Delete of one Pod.
 */
import { findCondition, isPodFinished, resources } from '@gyropilot/api'
import type { Pod, PodCondition } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, patch, remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'

export const DISRUPTION_TARGET = 'DisruptionTarget'

/** Answers the error, if there was one. A pod that is gone by now is an error as any other. */
export function* deletePod(pod: Pod, options: { readonly isOrphan: boolean }): Reconcile<unknown> {
  if (!isPodFinished(pod)) {
    const condition = options.isOrphan ? orphanCondition(pod, yield* currentTimeMs()) : undefined
    const failed = yield* write(markingFailed(pod, condition))
    if (!failed.ok) return failed.error
  }
  const deleted = yield* write(remove(resources.pods, pod, { gracePeriodSeconds: 0 }))
  return deleted.ok ? undefined : deleted.error
}

/**
 * Only what changes is sent, conditions merge by type, and never a spec: the lists of a spec may
 * have keys twice, which no merge survives. The uid refuses a successor of the same name.
 */
function markingFailed(pod: Pod, condition: PodCondition | undefined) {
  const { uid, generation } = pod.metadata ?? {}
  const status = {
    phase: 'Failed',
    ...(generation === undefined || generation === pod.status?.observedGeneration
      ? {}
      : { observedGeneration: generation }),
    ...(condition === undefined ? {} : withCondition(pod, condition)),
  }
  const value = { metadata: { uid }, status }
  return patch(resources.pods, pod, { type: 'strategic', value }, 'status')
}

/** At the end, or where it was: the order of conditions is sent too, else it would be the server's choice. */
function withCondition({ status }: Pod, condition: PodCondition): object {
  const types = (status?.conditions ?? []).map(({ type }) => type)
  const ordered = types.includes(condition.type) ? types : [...types, condition.type]
  return {
    '$setElementOrder/conditions': ordered.map((type) => ({ type })),
    conditions: [condition],
  }
}

function orphanCondition(pod: Pod, nowMs: number): PodCondition {
  const { generation } = pod.metadata ?? {}
  const known = findCondition(pod.status?.conditions, DISRUPTION_TARGET)
  return {
    type: DISRUPTION_TARGET,
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime:
      known?.status === 'True' && known.lastTransitionTime !== undefined
        ? known.lastTransitionTime
        : formatTime(nowMs),
  }
}
