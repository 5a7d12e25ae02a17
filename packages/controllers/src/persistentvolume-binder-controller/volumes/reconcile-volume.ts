/**
 * One sync of a volume. Step numbers are those of docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync,
 * Volume.
 */
import { isNotFound } from '@gyropilot/client'
import { haveSameVolumeMode, keyOf, resources } from '@gyropilot/api'
import type { ObjectReference, PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { getLive, recordEvent } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { hasAnnotation } from '../annotations.ts'
import { saveVolume, unchanged } from '../binder.ts'
import type { Binder } from '../binder.ts'
import { PROVISIONED_BY } from '../config.ts'
import { migratedVolume } from '../migration.ts'
import { reclaim } from './reclaim.ts'
import { unbind } from '../unbind.ts'
import { isReleased, setPhase } from './volume-phase.ts'

export function* reconcileVolume(binder: Binder, cached: PersistentVolume): Reconcile {
  // 0.
  const migrated = migratedVolume(cached)
  const saved = migrated === cached ? unchanged(cached) : yield* saveVolume(binder, migrated)
  if (!saved.ok) return { error: saved.error }
  const volume = saved.object
  // 1.
  const { claimRef } = volume.spec ?? {}
  if (!claimRef?.uid) return errorOf(yield* setPhase(binder, volume, 'Available'))
  // 2.
  const found = yield* findClaim(binder, volume, claimRef)
  if ('error' in found) return found
  const { claim } = found
  // 3.
  if (claim === undefined) return yield* release(binder, volume)
  // 4.
  if (!claim.spec?.volumeName) return yield* awaitClaim(binder, volume, claim)
  // 5.
  if (claim.spec.volumeName === volume.metadata?.name)
    return errorOf(yield* setPhase(binder, volume, 'Bound'))
  // 6.
  const isOurs = hasAnnotation(volume, PROVISIONED_BY)
  return isOurs && volume.spec?.persistentVolumeReclaimPolicy === 'Delete'
    ? yield* release(binder, volume)
    : yield* unbind(binder, volume)
}

type Found = { readonly claim?: PersistentVolumeClaim } | { readonly error: unknown }

/** Data is at stake: that a claim is gone is believed only of the server. */
function* findClaim(
  binder: Binder,
  volume: PersistentVolume,
  { namespace, name = '', uid }: ObjectReference,
): Reconcile<Found> {
  const cached = binder.claims.get(namespace, name)
  if (cached?.metadata?.uid === uid) return { claim: cached }
  if (cached === undefined && isReleased(volume)) return {}
  const live = yield* getLive(resources.persistentvolumeclaims, namespace, name)
  if (!live.ok) return isNotFound(live.error) ? {} : { error: live.error }
  return live.object.metadata?.uid === uid ? { claim: live.object } : {}
}

function* release(binder: Binder, volume: PersistentVolume): Reconcile {
  const released = isReleased(volume)
    ? unchanged(volume)
    : yield* setPhase(binder, volume, 'Released')
  return released.ok ? yield* reclaim(binder, released.object) : { error: released.error }
}

/** The claim's own sync makes what is missing, unless it never can. */
function* awaitClaim(
  binder: Binder,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Reconcile {
  if (haveSameVolumeMode(volume, claim)) return binder.enqueueClaim(keyOf(claim))
  const why = 'due to incompatible volumeMode.'
  const claimName = `PersistentVolumeClaim "${claim.metadata?.name}"`
  const volumeName = `PersistentVolume "${volume.metadata?.name}"`
  const ofVolume = `Cannot bind PersistentVolume to requested ${claimName} ${why}`
  yield* recordEvent(volume, 'Warning', 'VolumeMismatch', ofVolume)
  const ofClaim = `Cannot bind ${volumeName} to requested PersistentVolumeClaim ${why}`
  yield* recordEvent(claim, 'Warning', 'VolumeMismatch', ofClaim)
}

function errorOf(outcome: { ok: true } | { ok: false; error: unknown }): Verdict | undefined {
  return outcome.ok ? undefined : { error: outcome.error }
}
