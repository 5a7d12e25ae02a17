/**
 * Before anything is done to the data: is the volume still nobody's?
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Reclaim, Released again.
 */
import { isNotFound } from '@gyropilot/client'
import { keyOf, resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { getLive } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { Binder } from '../binder.ts'

export function operationId(
  operation: 'delete' | 'provision',
  object: PersistentVolume | PersistentVolumeClaim,
): string {
  return `${operation}-${keyOf(object)}[${object.metadata?.uid}]`
}

/** As the server has it; without a volume: it is gone, or somebody has it again. */
export function* liveReleased(
  binder: Binder,
  { metadata }: PersistentVolume,
): Reconcile<{ readonly volume?: PersistentVolume } | { readonly error: unknown }> {
  const live = yield* getLive(resources.persistentvolumes, undefined, metadata?.name ?? '')
  if (!live.ok) return isNotFound(live.error) ? {} : { error: live.error }
  const isSame = live.object.metadata?.uid === metadata?.uid
  return isSame && isStillReleased(binder, live.object) ? { volume: live.object } : {}
}

function isStillReleased(binder: Binder, volume: PersistentVolume): boolean {
  const { namespace, name = '', uid } = volume.spec?.claimRef ?? {}
  if (!uid) return false
  const claim = binder.claims.get(namespace, name)
  if (claim === undefined || claim.metadata?.uid !== uid) return true
  const volumeName = claim.spec?.volumeName
  return volumeName !== undefined && volumeName !== '' && volumeName !== volume.metadata?.name
}
