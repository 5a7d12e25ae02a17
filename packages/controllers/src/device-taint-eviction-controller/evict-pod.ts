/** One pod that is due. Step numbers are those of docs/behaviour/controllers/device-taint-eviction-controller.md, Pod item. */
import { isTerminating, resources } from '@gyropilot/api'
import type { Pod, PodCondition } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { currentTimeMs, getLive, patch, remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { conditionPatch } from '../workload-support/condition-patch.ts'
import { disruptionTarget, hasCondition } from '../workload-support/disruption-target.ts'
import { CONDITION_MESSAGE, CONDITION_REASON } from './config.ts'
import { MARKING, evictionEvent } from './events.ts'
import type { Item } from './keys.ts'

/** `gone`: it was there no more. `evicted`: it goes, through us or another. */
type Ended = 'gone' | 'evicted' | { readonly error: unknown }

export function* evictPod({
  namespace,
  name,
  uid,
}: Extract<Item, { kind: 'pod' }>): Reconcile<Ended> {
  // 3.
  const live = yield* getLive(resources.pods, namespace, name)
  if (!live.ok) return endedBy(live.error)
  const pod = live.object
  if (pod.metadata?.uid !== uid) return 'gone'
  if (isTerminating(pod)) return 'evicted'
  // 4.
  yield { effect: 'event', event: evictionEvent({ namespace, name, uid }, MARKING) }
  const condition = yield* evictionCondition(pod)
  if (!hasCondition(pod, condition)) {
    // The uid refuses a successor of the same name.
    const value = { metadata: { uid }, status: conditionPatch(pod, condition) }
    const marked = yield* write(patch(resources.pods, pod, { type: 'strategic', value }, 'status'))
    if (!marked.ok) return endedBy(marked.error)
  }
  const deleted = yield* write(remove(resources.pods, pod, { preconditions: { uid } }))
  return deleted.ok ? 'evicted' : endedBy(deleted.error)
}

// 5.
function endedBy(error: unknown): Ended {
  return isNotFound(error) ? 'gone' : { error }
}

/** As upstream's, without the generation that it was seen at. */
function* evictionCondition(pod: Pod): Reconcile<PodCondition> {
  const nowMs = yield* currentTimeMs()
  const condition = disruptionTarget(pod, nowMs, CONDITION_REASON, CONDITION_MESSAGE)
  const { observedGeneration: _, ...rest } = condition
  return rest
}
