/**
 * What an event asks to be looked at. One queue of claims and one of volumes; what the deletion of one means for the other
 * is a watch of the other's queue.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Watches and keys.
 */
import { isPodFinished, keyOf, resources } from '@gyropilot/api'
import type { KubernetesObject, PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import type { Binder } from './binder.ts'
import { recycledVolume } from './volumes/recycle.ts'

/** Every event of the type, by its own key. */
function every<T extends KubernetesObject>(type: ResourceType<T>): Watch<T> {
  return {
    type,
    onAdd: (object) => [keyOf(object)],
    onUpdate: (_, current) => [keyOf(current)],
    onDelete: (gone) => [keyOfDeleted(gone)],
  }
}

/** A claim whose volume is gone is lost. */
const claimOfDeletedVolume: Watch<PersistentVolume> = {
  type: resources.persistentvolumes,
  onDelete(gone) {
    if (gone instanceof DeletedFinalStateUnknown) return []
    const { namespace, name } = gone.spec?.claimRef ?? {}
    return namespace === undefined || name === undefined ? [] : [`${namespace}/${name}`]
  },
}

/** A volume whose claim is gone is released. */
const volumeOfDeletedClaim: Watch<PersistentVolumeClaim> = {
  type: resources.persistentvolumeclaims,
  onDelete(gone) {
    const volumeName = gone instanceof DeletedFinalStateUnknown ? undefined : gone.spec?.volumeName
    return volumeName ? [volumeName] : []
  },
}

type Recyclers = Pick<Binder, 'recyclers' | 'lostRecyclers'>

const volumeOf = (pod: Pod): readonly string[] => {
  const name = recycledVolume(pod)
  return name === undefined ? [] : [name]
}

/** How a recycler's pod fares decides on its volume. One that had ended was counted: the next is the resync's. */
function recyclerPods({ recyclers, lostRecyclers }: Recyclers): Watch<Pod> {
  return {
    type: resources.pods,
    onUpdate(previous, current) {
      const isSame = previous.metadata?.uid === current.metadata?.uid
      return isSame && isPodFinished(previous) ? [] : volumeOf(current)
    },
    onDelete(gone) {
      if (gone instanceof DeletedFinalStateUnknown || isPodFinished(gone)) return []
      const names = volumeOf(gone)
      for (const name of names) {
        if (recyclers.get(name)?.podUid !== gone.metadata?.uid) continue
        recyclers.delete(name)
        lostRecyclers.add(name)
      }
      return names
    },
  }
}

export const claimWatches: readonly Watch[] = [
  every(resources.persistentvolumeclaims) as Watch,
  claimOfDeletedVolume as Watch,
]

export function volumeWatches(binder: Recyclers): readonly Watch[] {
  return [
    every(resources.persistentvolumes) as Watch,
    volumeOfDeletedClaim as Watch,
    recyclerPods(binder) as Watch,
  ]
}
