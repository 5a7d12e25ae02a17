/**
 * The marks of in-tree plugins whose work CSI drivers do.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, step 0 of claims and of volumes.
 */
import { hasFinalizer, withFinalizer, withoutFinalizer } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { driverOf } from '../volume-support/csi-migration.ts'
import { annotation, withAnnotation, withoutAnnotation } from './annotations.ts'
import {
  BETA_STORAGE_PROVISIONER,
  EXTERNAL_FINALIZER,
  IN_TREE_FINALIZER,
  MIGRATED_TO,
  PROVISIONED_BY,
  STORAGE_PROVISIONER,
} from './config.ts'

/** A plugin by its name only: it may not exist. */
export function isInTree(provisioner: string): boolean {
  return provisioner.startsWith('kubernetes.io/')
}

/** The same object where nothing changes. */
function withMigration<T extends PersistentVolume | PersistentVolumeClaim>(
  object: T,
  provisioner: string | undefined,
): T {
  // Nobody provisioned it: what others wrote is theirs.
  if (provisioner === undefined) return object
  const driver = driverOf(provisioner)
  if (driver !== undefined) return withAnnotation(object, MIGRATED_TO, driver)
  // An empty mark says nothing, and stays.
  return annotation(object, MIGRATED_TO) ? withoutAnnotation(object, MIGRATED_TO) : object
}

export function migratedClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const asked =
    annotation(claim, STORAGE_PROVISIONER) ?? annotation(claim, BETA_STORAGE_PROVISIONER)
  return withMigration(claim, asked)
}

/** Also with the finalizers that its provisioner needs. */
export function migratedVolume(volume: PersistentVolume): PersistentVolume {
  const provisioner = annotation(volume, PROVISIONED_BY)
  if (provisioner === undefined) return volume
  const marked = withMigration(volume, provisioner)
  if (driverOf(provisioner) !== undefined) return dropped(marked, IN_TREE_FINALIZER)
  if (!isInTree(provisioner)) return marked
  const mine = dropped(marked, EXTERNAL_FINALIZER)
  if (mine.spec?.persistentVolumeReclaimPolicy !== 'Delete') return dropped(mine, IN_TREE_FINALIZER)
  return hasFinalizer(mine, IN_TREE_FINALIZER) ? mine : withFinalizer(mine, IN_TREE_FINALIZER)
}

function dropped(volume: PersistentVolume, finalizer: string): PersistentVolume {
  return hasFinalizer(volume, finalizer) ? withoutFinalizer(volume, finalizer) : volume
}
