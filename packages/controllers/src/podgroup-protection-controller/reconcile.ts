/**
 * One sync of a PodGroup, from the caches alone. Step numbers are those of
 * docs/behaviour/controllers/podgroup-protection-controller.md; 1 is the shell's.
 */
import { POD_GROUPS } from '@gyropilot/api'
import type { PodGroup } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { isHeld, release } from '../protection-support/protection.ts'
import { FINALIZER } from './config.ts'

export interface ObservedGroup {
  readonly group: PodGroup
  /** Whether a pod of the group is not finished. */
  readonly hasActivePods: boolean
}

export function* reconcile({ group, hasActivePods }: ObservedGroup): Reconcile {
  // 2, 4. Of the last pod's end an event will tell.
  if (!isHeld(group, FINALIZER) || hasActivePods) return
  // 5.
  return yield* release(POD_GROUPS, group, FINALIZER)
}
