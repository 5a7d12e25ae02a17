/**
 * One sync of a claim. Step numbers are those of docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Claim.
 */
import type { PersistentVolumeClaim } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { hasAnnotation } from '../annotations.ts'
import { saveClaim, unchanged } from '../binder.ts'
import type { Binder } from '../binder.ts'
import { reconcileBound } from './bound-claim.ts'
import { BIND_COMPLETED } from '../config.ts'
import { migratedClaim } from '../migration.ts'
import { reconcileUnbound } from './unbound-claim.ts'

export function* reconcileClaim(binder: Binder, cached: PersistentVolumeClaim): Reconcile {
  // 0.
  const migrated = migratedClaim(cached)
  const saved = migrated === cached ? unchanged(cached) : yield* saveClaim(binder, migrated)
  if (!saved.ok) return { error: saved.error }
  // 1.
  const claim = saved.object
  return hasAnnotation(claim, BIND_COMPLETED)
    ? yield* reconcileBound(binder, claim)
    : yield* reconcileUnbound(binder, claim)
}
