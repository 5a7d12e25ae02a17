/**
 * One sync of a PodGroup, from the caches alone. Step numbers are those of
 * docs/behaviour/controllers/podgroup-protection-controller.md; 1 is the shell's.
 */
import type { KubernetesObject } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { isHeld, release } from '../protection-support/protection.ts'
import { FINALIZER, POD_GROUPS } from './config.ts'

export interface ObservedGroup {
  readonly group: KubernetesObject
  /** Whether a pod of the group is not finished. */
  readonly hasActivePods: boolean
}

export function* reconcile({ group, hasActivePods }: ObservedGroup): Reconcile {
  // 2, 4. Of the last pod's end an event will tell.
  if (!isHeld(group, FINALIZER) || hasActivePods) return
  // 5.
  return yield* release(POD_GROUPS, group, FINALIZER)
}
