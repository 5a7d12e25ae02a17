/**
 * The condition `Unused` of claims, behind the gate PersistentVolumeClaimUnusedSinceTime.
 * Contract: docs/behaviour/controllers/persistentvolumeclaim-protection-controller.md, Status and conditions.
 */
import { findCondition, replaceCondition, resources } from '@gyropilot/api'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, updateStatus, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'

export const UNUSED = 'Unused'

const OF_USED = {
  status: 'False',
  reason: 'PodUsingPVC',
  message: 'A pod is currently referencing this PVC',
}
const OF_UNUSED = {
  status: 'True',
  reason: 'NoPodsUsingPVC',
  message: 'No pods are currently referencing this PVC',
}

/** Writes the condition where it says something else; answers the claim as it is then. */
export function* tellUse(
  claim: PersistentVolumeClaim,
  isUsed: boolean,
): Reconcile<Outcome<PersistentVolumeClaim>> {
  const wanted = isUsed ? OF_USED : OF_UNUSED
  const conditions = claim.status?.conditions
  if (findCondition(conditions, UNUSED)?.status === wanted.status)
    return { ok: true, object: claim }
  const lastTransitionTime = formatTime(yield* currentTimeMs())
  const condition = { type: UNUSED, ...wanted, lastTransitionTime }
  const status = { ...claim.status, conditions: replaceCondition(conditions ?? [], condition) }
  return yield* write(updateStatus(resources.persistentvolumeclaims, { ...claim, status }))
}
