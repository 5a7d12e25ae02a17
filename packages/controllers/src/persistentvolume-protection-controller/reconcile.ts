/**
 * One sync of a PersistentVolume, from the cache alone. Step numbers are those of
 * docs/behaviour/controllers/persistentvolume-protection-controller.md; 1 is the shell's.
 */
import { resources } from '@gyropilot/api'
import type { PersistentVolume } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { isHeld, needsProtection, protect, release } from '../protection-support/protection.ts'
import { FINALIZER } from './config.ts'

export function* reconcile(volume: PersistentVolume): Reconcile {
  // 2. The phase counts, and not claimRef: who sets the one looks after the other.
  if (isHeld(volume, FINALIZER)) {
    if (volume.status?.phase === 'Bound') return
    return yield* release(resources.persistentvolumes, volume, FINALIZER)
  }
  // 3.
  if (!needsProtection(volume, FINALIZER)) return
  return yield* protect(resources.persistentvolumes, volume, FINALIZER)
}
