/**
 * The status of a claim, computed and written.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Status and conditions.
 */
import { deepEqual, keyOf } from '@gyropilot/api'
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
} from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { annotation } from '../annotations.ts'
import { saveClaim, unchanged } from '../binder.ts'
import type { Binder } from '../binder.ts'
import { PRE_RESIZE_CAPACITY } from '../config.ts'

type Phase = NonNullable<PersistentVolumeClaimStatus['phase']>

export interface LossEvent {
  readonly reason: 'ClaimLost' | 'ClaimMisbound'
  readonly message: string
}

/** With the volume it is bound to; without one, all that is known of volumes is cleared. */
function claimStatus(
  { status = {} }: PersistentVolumeClaim,
  phase: Phase,
  volume?: PersistentVolume,
): PersistentVolumeClaimStatus {
  if (volume === undefined) {
    const {
      accessModes: _modes,
      capacity: _capacity,
      currentVolumeAttributesClassName: _class,
      ...rest
    } = status
    return { ...rest, phase }
  }
  const { accessModes, volumeAttributesClassName } = volume.spec ?? {}
  return {
    ...status,
    phase,
    accessModes,
    ...(status.phase === phase ? {} : { capacity: boundCapacity(volume) }),
    ...(status.phase === 'Pending' && phase === 'Bound' && volumeAttributesClassName !== undefined
      ? { currentVolumeAttributesClassName: volumeAttributesClassName }
      : {}),
  }
}

/** While a resize is under way, the file system has the size from before. */
function boundCapacity(volume: PersistentVolume): PersistentVolumeClaimStatus['capacity'] {
  const storage = annotation(volume, PRE_RESIZE_CAPACITY)
  const capacity = volume.spec?.capacity
  return storage === undefined ? capacity : { ...capacity, storage }
}

/** PUT of the status where it changes. */
export function* writeClaimStatus(
  binder: Binder,
  claim: PersistentVolumeClaim,
  phase: Phase,
  volume?: PersistentVolume,
): Reconcile<Outcome<PersistentVolumeClaim>> {
  const status = claimStatus(claim, phase, volume)
  if (deepEqual(status, claim.status ?? {})) return unchanged(claim)
  const saved = yield* saveClaim(binder, { ...claim, status }, 'status')
  if (saved.ok && phase === 'Bound') binder.times.ended(keyOf(claim), 'provision')
  return saved
}

/** Its volume is gone, and with it the data. Said once. */
export function* loseClaim(
  binder: Binder,
  claim: PersistentVolumeClaim,
  { reason, message }: LossEvent,
): Reconcile {
  const written = yield* writeClaimStatus(binder, claim, 'Lost')
  if (!written.ok) return { error: written.error }
  if (claim.status?.phase !== 'Lost') yield* recordEvent(written.object, 'Warning', reason, message)
}
