/**
 * A volume and a claim made each other's: four writes in order, each left out where nothing changes. A crash between any two
 * is repaired by the next sync, which makes the rest.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Bind.
 */
import { isVolumeFor } from '@gyropilot/api'
import type { ObjectReference, PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { withMark } from './annotations.ts'
import { saveClaim, saveVolume, unchanged } from './binder.ts'
import type { Binder } from './binder.ts'
import { writeClaimStatus } from './claims/claim-status.ts'
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, YES } from './config.ts'
import { setPhase } from './volumes/volume-phase.ts'

export function* bind(
  binder: Binder,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Reconcile {
  const reserved = reserve(volume, claim)
  const given = reserved === volume ? unchanged(volume) : yield* saveVolume(binder, reserved)
  if (!given.ok) return { error: given.error }
  const bound = yield* setPhase(binder, given.object, 'Bound')
  if (!bound.ok) return { error: bound.error }
  const taking = take(claim, bound.object)
  const taken = taking === claim ? unchanged(claim) : yield* saveClaim(binder, taking)
  if (!taken.ok) return { error: taken.error }
  const told = yield* writeClaimStatus(binder, taken.object, 'Bound', bound.object)
  return told.ok ? undefined : { error: told.error }
}

/** The volume with the claim's full reference; the same object where it is there already. */
export function reserve(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const isNamed = isVolumeFor(volume, claim)
  if (isNamed && volume.spec?.claimRef?.uid === claim.metadata?.uid) return volume
  const spec = { ...volume.spec, claimRef: referenceTo(claim) }
  const reserved = { ...volume, spec }
  return isNamed ? reserved : withMark(reserved, BOUND_BY_CONTROLLER, YES)
}

/** The claim with the volume's name; the same object where it is there already. */
export function take(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): PersistentVolumeClaim {
  const volumeName = volume.metadata?.name
  const taking =
    claim.spec?.volumeName === volumeName
      ? claim
      : withMark({ ...claim, spec: { ...claim.spec, volumeName } }, BOUND_BY_CONTROLLER, YES)
  return withMark(taking, BIND_COMPLETED, YES)
}

export function referenceTo({ metadata }: PersistentVolumeClaim): ObjectReference {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: metadata?.namespace,
    name: metadata?.name,
    uid: metadata?.uid,
    resourceVersion: metadata?.resourceVersion,
  }
}
