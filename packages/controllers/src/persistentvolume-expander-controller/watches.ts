/** Contract: docs/behaviour/controllers/persistentvolume-expander-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { claimSize, isMore, requestedSize } from './sizes.ts'

/** Becoming Bound is seen too: the capacity comes with it. */
export const claimWatch: Watch<PersistentVolumeClaim> = {
  type: resources.persistentvolumeclaims,
  onAdd: keys,
  onUpdate: (previous, current) =>
    isMore(requestedSize(current), requestedSize(previous)) ||
    isMore(claimSize(current), claimSize(previous))
      ? keys(current)
      : [],
  onDelete: (claim) => (claim instanceof DeletedFinalStateUnknown ? [] : keys(claim)),
}

function keys(claim: PersistentVolumeClaim): readonly string[] {
  return claim.status?.phase === 'Bound' ? [keyOf(claim)] : []
}
