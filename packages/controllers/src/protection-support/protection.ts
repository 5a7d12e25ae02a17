/**
 * Objects that stay until nobody uses them: a finalizer for as long as they live, taken away once they are being deleted and
 * out of use. What "in use" means is each controller's matter.
 * Contract: docs/behaviour/controllers/persistentvolume-protection-controller.md and its siblings, Sync.
 */
import { hasFinalizer, isTerminating, withFinalizer, withoutFinalizer } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'

/** It lives and has no finalizer yet. One that is being deleted is never given it. */
export function needsProtection(object: KubernetesObject, finalizer: string): boolean {
  return !isTerminating(object) && !hasFinalizer(object, finalizer)
}

/** It is being deleted, and the finalizer holds it. */
export function isHeld(object: KubernetesObject, finalizer: string): boolean {
  return isTerminating(object) && hasFinalizer(object, finalizer)
}

/** Whether a controller has anything to decide about the object. */
export function concernsProtection(object: KubernetesObject, finalizer: string): boolean {
  return needsProtection(object, finalizer) || isHeld(object, finalizer)
}

/** PUT with the finalizer at the end; with the version read, so that nothing is written over. */
export function* protect<T extends KubernetesObject>(
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Reconcile {
  const outcome = yield* write(update(type, withFinalizer(object, finalizer)))
  return outcome.ok ? undefined : { error: outcome.error }
}

/** PUT without the finalizer; all others stay in their order. */
export function* release<T extends KubernetesObject>(
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Reconcile {
  const outcome = yield* write(update(type, withoutFinalizer(object, finalizer)))
  return outcome.ok ? undefined : { error: outcome.error }
}
