/** What an API server makes of deletions where finalizers hold the object. */
import type { KubernetesObject } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'

function isHeld({ metadata }: KubernetesObject): boolean {
  return (metadata?.finalizers ?? []).length > 0
}

/** What a deletion leaves of the object; undefined: nothing. A second deletion changes nothing. */
export function leftByDeletion(
  object: KubernetesObject,
  nowMs: number,
): KubernetesObject | undefined {
  if (!isHeld(object)) return undefined
  const { deletionTimestamp, generation = 0 } = object.metadata ?? {}
  if (deletionTimestamp !== undefined) return object
  const deletion = {
    deletionTimestamp: formatTime(nowMs),
    deletionGracePeriodSeconds: 0,
    // Where generations are counted it is a change of what is wanted.
    ...(generation > 0 && { generation: generation + 1 }),
  }
  return { ...object, metadata: { ...object.metadata, ...deletion } }
}

/** What a write leaves of the object: nobody takes a deletion back, and with the last finalizer it is over, unless a pod has time left. */
export function leftByWrite(
  before: KubernetesObject,
  after: KubernetesObject,
): KubernetesObject | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = before.metadata ?? {}
  if (deletionTimestamp === undefined) return after
  if (isHeld(before) && !isHeld(after) && !deletionGracePeriodSeconds) return undefined
  const deletion = {
    deletionTimestamp,
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  }
  return { ...after, metadata: { ...after.metadata, ...deletion } }
}
