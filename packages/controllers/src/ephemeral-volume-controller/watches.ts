/** Contract: docs/behaviour/controllers/ephemeral-volume-controller.md, Watches and keys. */
import { isTerminating, keyOf, resources } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Lister, Watch } from '@gyropilot/runtime'
import { podsUsing } from '../volume-support/pod-claims.ts'

/** Volumes of a pod never change: its updates say nothing new, unless another pod has taken its name. */
export const podWatch: Watch<Pod> = {
  type: resources.pods,
  onAdd: keys,
  onUpdate: (previous, pod) => (previous.metadata?.uid === pod.metadata?.uid ? [] : keys(pod)),
}

/** Someone deleted the claim of a pod: it gets another. */
export function claimWatch(pods: Lister<Pod>): Watch<PersistentVolumeClaim> {
  return {
    type: resources.persistentvolumeclaims,
    onDelete: (claim) =>
      claim instanceof DeletedFinalStateUnknown ? [] : podsUsing(pods, keyOf(claim)).flatMap(keys),
  }
}

function keys(pod: Pod): readonly string[] {
  const isConcerned =
    !isTerminating(pod) && pod.spec?.volumes?.some(({ ephemeral }) => ephemeral !== undefined)
  return isConcerned ? [keyOf(pod)] : []
}
