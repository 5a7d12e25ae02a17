/**
 * The end of one pod: it is declared failed, so that its owner can count on it, and then deleted
 * without grace.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md, Delete of one Pod.
 */
import { isPodFinished, resources } from '@gyropilot/api'
import type { Pod, PodCondition } from '@gyropilot/api'
import { currentTimeMs, patch, remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { conditionPatch } from '../workload-support/condition-patch.ts'
import { disruptionTarget } from '../workload-support/disruption-target.ts'

const REASON = 'DeletionByPodGC'
const MESSAGE = 'PodGC: node no longer exists'

/** Answers the error, if there was one. A pod that is gone by now is an error as any other. */
export function* deletePod(pod: Pod, options: { readonly isOrphan: boolean }): Reconcile<unknown> {
  if (!isPodFinished(pod)) {
    const condition = options.isOrphan
      ? disruptionTarget(pod, yield* currentTimeMs(), REASON, MESSAGE)
      : undefined
    const failed = yield* write(markingFailed(pod, condition))
    if (!failed.ok) return failed.error
  }
  // What has ended needs no patch that would refuse a successor, as a StatefulSet makes of the same name; and no grace would warn it.
  const preconditions = { uid: pod.metadata?.uid }
  const deleted = yield* write(
    remove(resources.pods, pod, { gracePeriodSeconds: 0, preconditions }),
  )
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
    ...(condition === undefined ? {} : conditionPatch(pod, condition)),
  }
  const value = { metadata: { uid }, status }
  return patch(resources.pods, pod, { type: 'strategic', value }, 'status')
}
