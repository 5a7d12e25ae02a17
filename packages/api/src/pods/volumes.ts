/** Claims, volumes and classes: what several parts of a cluster must read in one way. */
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  Volume,
} from '../generated/types.ts'
import { isTerminating } from '../ownership/finalizers.ts'
import { compareQuantities } from '../values/quantity.ts'

const BETA_STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class'
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed'

/** The claim that the volume of a pod takes; undefined for volumes of other kinds. */
export function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName
  return volume.ephemeral === undefined ? undefined : ephemeralClaimName(pod, volume)
}

/** Of the claim behind a generic ephemeral volume. Not cut: admission sees to it that it is short enough. */
export function ephemeralClaimName(pod: Pod, volume: Volume): string {
  return `${pod.metadata?.name}-${volume.name}`
}

/** Empty: none. The annotation wins, also when it is empty. */
export function storageClassNameOf(object: PersistentVolume | PersistentVolumeClaim): string {
  return object.metadata?.annotations?.[BETA_STORAGE_CLASS] ?? object.spec?.storageClassName ?? ''
}

/** The binding was finished once. */
export function isClaimBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && metadata?.annotations?.[BIND_COMPLETED] !== undefined
}

export function waitsForFirstConsumer(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
}

/** The claim that the volume is kept for, of any uid or of this one. */
export function isVolumeFor(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const ref = volume.spec?.claimRef
  return (
    ref !== undefined &&
    ref.namespace === claim.metadata?.namespace &&
    ref.name === claim.metadata?.name &&
    (!ref.uid || ref.uid === claim.metadata?.uid)
  )
}

/** Not a word about classes, access modes and selectors: size, mode and attributes, and that it is not on its way out. */
export function canVolumeHold(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (
    !isTerminating(volume) &&
    isVolumeLargeEnough(volume, claim) &&
    haveSameVolumeMode(volume, claim) &&
    haveSameAttributesClass(volume, claim)
  )
}

export function volumeCapacity({ spec }: PersistentVolume): string | number {
  return spec?.capacity?.storage ?? '0'
}

export function requestedStorage({ spec }: PersistentVolumeClaim): string | number {
  return spec?.resources?.requests?.storage ?? '0'
}

export function isVolumeLargeEnough(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): boolean {
  return compareQuantities(volumeCapacity(volume), requestedStorage(claim)) >= 0
}

export function haveSameVolumeMode(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): boolean {
  return (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem')
}

export function haveSameAttributesClass(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): boolean {
  const asked = claim.spec?.volumeAttributesClassName ?? ''
  return (volume.spec?.volumeAttributesClassName ?? '') === asked
}
