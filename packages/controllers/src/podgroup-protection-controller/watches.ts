/**
 * Which PodGroups an event concerns.
 * Contract: docs/behaviour/controllers/podgroup-protection-controller.md, Watches and keys.
 */
import { POD_GROUPS, isPodFinished, keyOf, podGroupKeyOf, resources } from '@gyropilot/api'
import type { Pod, PodGroup } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { isHeld } from '../protection-support/protection.ts'
import { FINALIZER } from './config.ts'

const heldKey = (group: PodGroup): readonly string[] =>
  isHeld(group, FINALIZER) ? [keyOf(group)] : []

export const groupWatch: Watch<PodGroup> = {
  type: POD_GROUPS,
  onAdd: heldKey,
  onUpdate: (_, current) => heldKey(current),
}

/** Only what may take the last pod from a group: its end, its deletion, another pod under its name. */
export function podWatch(unknownDeletion: (key: string) => void): Watch<Pod> {
  const groupOf = (pod: Pod): readonly string[] => {
    const key = podGroupKeyOf(pod)
    return key === undefined ? [] : [key]
  }
  const ofFinished = (pod: Pod): readonly string[] => (isPodFinished(pod) ? groupOf(pod) : [])
  return {
    type: resources.pods,
    onAdd: ofFinished,
    onUpdate(previous, current) {
      const isAnother = previous.metadata?.uid !== current.metadata?.uid
      return isAnother ? [...groupOf(previous), ...ofFinished(current)] : ofFinished(current)
    },
    onDelete(pod) {
      if (!(pod instanceof DeletedFinalStateUnknown)) return groupOf(pod)
      unknownDeletion(pod.key)
      return []
    },
  }
}
