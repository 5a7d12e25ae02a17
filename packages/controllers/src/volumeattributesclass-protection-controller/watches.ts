/** Contract: docs/behaviour/controllers/volumeattributesclass-protection-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceType, VolumeAttributesClass } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { concernsProtection } from '../protection-support/protection.ts'
import { FINALIZER } from './config.ts'

export const classWatch: Watch<VolumeAttributesClass> = {
  type: resources.volumeattributesclasses,
  onAdd: keys,
  onUpdate: (_, current) => keys(current),
}

function keys(object: VolumeAttributesClass): readonly string[] {
  return concernsProtection(object, FINALIZER) ? [keyOf(object)] : []
}

/** Of what refers to classes: only a reference that goes lets anything happen. */
export function referrerWatch<T extends KubernetesObject>(
  type: ResourceType<T>,
  classesOf: (object: T) => readonly string[],
  onUnknownDeletion: (key: string) => void,
): Watch<T> {
  return {
    type,
    onUpdate(previous, current) {
      const kept = new Set(classesOf(current))
      return classesOf(previous).filter((name) => !kept.has(name))
    },
    onDelete(object) {
      if (!(object instanceof DeletedFinalStateUnknown)) return classesOf(object)
      onUnknownDeletion(object.key)
      return []
    },
  }
}
