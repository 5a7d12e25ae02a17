/**
 * The end of one pod that its node does not want.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md, Deletion.
 */
import { resources } from '@gyropilot/api'
import { currentTimeMs, getLive, patch, remove, wait, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { conditionPatch } from '../workload-support/condition-patch.ts'
import { disruptionTarget, hasCondition } from '../workload-support/disruption-target.ts'
import { ATTEMPT_PAUSE_MS, CONDITION_MESSAGE, CONDITION_REASON, DELETE_ATTEMPTS } from './config.ts'
import { recordMarking } from './events.ts'

export interface PodIdentity {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** The pod that was to go is gone, and another one has its name: that one stays. */
class PodReplaced extends Error {
  constructor({ namespace, name }: PodIdentity) {
    super(`pod ${namespace}/${name} was replaced by another of its name`)
    this.name = 'PodReplaced'
  }
}

/** Answers the last attempt's error where all of them failed. A pod that is gone by now is an error as any other. */
export function* evictPod(pod: PodIdentity): Reconcile<unknown> {
  // 1.
  yield* recordMarking(pod.namespace, pod.name)
  // 2.-3.
  for (let attempt = 1; ; attempt++) {
    const error = yield* deletePod(pod)
    if (error === undefined || error instanceof PodReplaced) return error
    if (attempt === DELETE_ATTEMPTS) return error
    yield* wait(ATTEMPT_PAUSE_MS)
  }
}

function* deletePod(wanted: PodIdentity): Reconcile<unknown> {
  const live = yield* getLive(resources.pods, wanted.namespace, wanted.name)
  if (!live.ok) return live.error
  if (live.object.metadata?.uid !== wanted.uid) return new PodReplaced(wanted)
  const pod = live.object
  const nowMs = yield* currentTimeMs()
  const condition = disruptionTarget(pod, nowMs, CONDITION_REASON, CONDITION_MESSAGE)
  if (!hasCondition(pod, condition)) {
    // The uid refuses a successor of the same name.
    const value = { metadata: { uid: pod.metadata?.uid }, status: conditionPatch(pod, condition) }
    const marked = yield* write(patch(resources.pods, pod, { type: 'strategic', value }, 'status'))
    if (!marked.ok) return marked.error
  }
  const deleted = yield* write(remove(resources.pods, pod))
  return deleted.ok ? undefined : deleted.error
}
