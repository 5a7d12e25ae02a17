/**
 * The classes that volumes and claims refer to.
 * Contract: docs/behaviour/controllers/volumeattributesclass-protection-controller.md, Watches and keys.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'

/** Of both informers: the names of the classes an object refers to. */
export const CLASS_INDEX = 'volumeAttributesClass'

/** Each name once. Until a change of class is over, the class that was and the class that will be are both held. */
export function classesOfClaim({ spec, status }: PersistentVolumeClaim): readonly string[] {
  return named([
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ])
}

export function classesOfVolume({ spec }: PersistentVolume): readonly string[] {
  return named([spec?.volumeAttributesClassName])
}

/** An empty name refers to nothing. */
function named(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[]
}
