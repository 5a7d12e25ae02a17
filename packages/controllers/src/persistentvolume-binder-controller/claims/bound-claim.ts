/**
 * A claim that has had its volume: it has it still, or has lost it.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Bound claim.
 */
import type { PersistentVolumeClaim } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { bind } from '../bind.ts'
import type { Binder } from '../binder.ts'
import { loseClaim } from './claim-status.ts'
import type { LossEvent } from './claim-status.ts'

const NO_REFERENCE: LossEvent = {
  reason: 'ClaimLost',
  message: 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
}
const NO_VOLUME: LossEvent = {
  reason: 'ClaimLost',
  message: 'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
}
const MISBOUND: LossEvent = {
  reason: 'ClaimMisbound',
  message: 'Two claims are bound to the same volume, this one is bound incorrectly',
}

export function* reconcileBound(binder: Binder, claim: PersistentVolumeClaim): Reconcile {
  const volumeName = claim.spec?.volumeName
  if (!volumeName) return yield* loseClaim(binder, claim, NO_REFERENCE)
  const volume = binder.volumes.get(undefined, volumeName)
  if (volume === undefined) return yield* loseClaim(binder, claim, NO_VOLUME)
  const { claimRef } = volume.spec ?? {}
  if (claimRef !== undefined && claimRef.uid !== claim.metadata?.uid)
    return yield* loseClaim(binder, claim, MISBOUND)
  return yield* bind(binder, volume, claim)
}
