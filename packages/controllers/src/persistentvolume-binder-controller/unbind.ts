/**
 * A volume is given back. One that a user reserved stays reserved for the claim's name.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Volume, step 6.
 */
import type { PersistentVolume } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { hasAnnotation, withoutAnnotation } from './annotations.ts'
import { saveVolume } from './binder.ts'
import type { Binder } from './binder.ts'
import { BOUND_BY_CONTROLLER } from './config.ts'
import { setPhase } from './volumes/volume-phase.ts'

export function* unbind(binder: Binder, volume: PersistentVolume): Reconcile {
  const freed = yield* saveVolume(binder, unbound(volume))
  if (!freed.ok) return { error: freed.error }
  const told = yield* setPhase(binder, freed.object, 'Available')
  return told.ok ? undefined : { error: told.error }
}

function unbound(volume: PersistentVolume): PersistentVolume {
  const { claimRef, ...spec } = volume.spec ?? {}
  if (hasAnnotation(volume, BOUND_BY_CONTROLLER))
    return withoutAnnotation({ ...volume, spec }, BOUND_BY_CONTROLLER)
  const { uid: _, ...reserved } = claimRef ?? {}
  return { ...volume, spec: { ...spec, claimRef: reserved } }
}
