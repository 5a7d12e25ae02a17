/**
 * Classes of claims and volumes, the default one, and when binding waits for a pod.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Claim.
 */
import { parseTime, storageClassNameOf, waitsForFirstConsumer } from '@gyropilot/api'
import type { PersistentVolumeClaim, StorageClass } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { annotation, hasAnnotation } from '../annotations.ts'
import { BETA_STORAGE_CLASS } from '../config.ts'

const IS_DEFAULT = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

/** Nothing was said, which is not the same as the empty class. */
export function isClassUnset(claim: PersistentVolumeClaim): boolean {
  const name = claim.spec?.storageClassName
  return !hasAnnotation(claim, BETA_STORAGE_CLASS) && (name === undefined || name === null)
}

/** The newest of those marked; then the first by name. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  return [...classes]
    .filter((one) => IS_DEFAULT.some((key) => annotation(one, key) === 'true'))
    .sort(
      (a, b) =>
        createdMs(b) - createdMs(a) ||
        compareStrings(a.metadata?.name ?? '', b.metadata?.name ?? ''),
    )[0]
}

function createdMs({ metadata }: StorageClass): number {
  return parseTime(metadata?.creationTimestamp) ?? 0
}

type Delay = { readonly delayed: boolean } | { readonly error: Error }

/** A class that does not exist delays nothing. */
export function delayOf(
  claim: PersistentVolumeClaim,
  classNamed: (name: string) => StorageClass | undefined,
): Delay {
  const name = storageClassNameOf(claim)
  const found = classNamed(name)
  if (found === undefined) return { delayed: false }
  const mode = found.volumeBindingMode
  if (mode === undefined || mode === null)
    return { error: new Error(`VolumeBindingMode not set for StorageClass "${name}"`) }
  return { delayed: waitsForFirstConsumer(found) }
}
