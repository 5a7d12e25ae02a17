/**
 * One sync of a class, from the caches alone. Step numbers are those of
 * docs/behaviour/controllers/volumeattributesclass-protection-controller.md; 1 is the shell's.
 */
import { resources } from '@gyropilot/api'
import type { VolumeAttributesClass } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { isHeld, needsProtection, protect, release } from '../protection-support/protection.ts'
import { FINALIZER } from './config.ts'

export interface ObservedClass {
  readonly object: VolumeAttributesClass
  /** Whether a volume or a claim refers to it. Asked only of a class that is being deleted. */
  isReferred(): boolean
}

export function* reconcile({ object, isReferred }: ObservedClass): Reconcile {
  // 2.
  if (isHeld(object, FINALIZER)) {
    if (isReferred()) return
    return yield* release(resources.volumeattributesclasses, object, FINALIZER)
  }
  // 3.
  if (!needsProtection(object, FINALIZER)) return
  return yield* protect(resources.volumeattributesclasses, object, FINALIZER)
}
