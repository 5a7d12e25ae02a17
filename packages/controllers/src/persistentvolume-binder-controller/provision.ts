/**
 * A volume is asked for. Who makes it is outside: of the plugins in the tree only the names are left. Step numbers are those
 * of docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Provision.
 */
import { storageClassNameOf } from '@gyropilot/api'
import type { PersistentVolumeClaim, StorageClass } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { driverOf } from '../volume-support/csi-migration.ts'
import { withAnnotation } from './annotations.ts'
import { saveClaim, unchanged } from './binder.ts'
import type { Binder } from './binder.ts'
import { BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER } from './config.ts'
import { isInTree } from './migration.ts'
import { HOST_PATH_PLUGIN } from './storage-plugin.ts'

export function* provision(binder: Binder, claim: PersistentVolumeClaim): Reconcile {
  // 1.
  if (!binder.settings.enableDynamicProvisioning) return
  // 2.
  const className = storageClassNameOf(claim)
  const found = binder.classNamed(className)
  if (found === undefined)
    return yield* refuse(claim, `storageclass.storage.k8s.io "${className}" not found`)
  const { provisioner } = found
  const driver = driverOf(provisioner)
  // 3.
  if (driver !== undefined || !isInTree(provisioner))
    return yield* askOutside(binder, claim, driver ?? provisioner)
  // 4.
  if (provisioner === HOST_PATH_PLUGIN) return yield* refuseHostPath(binder, claim, found)
  return yield* refuse(claim, `no volume plugin matched name: ${provisioner}`)
}

function* askOutside(binder: Binder, claim: PersistentVolumeClaim, provisioner: string): Reconcile {
  const asked = yield* setProvisioner(binder, claim, provisioner)
  if (!asked.ok) return { error: asked.error }
  const text =
    'Waiting for a volume to be created either by the external provisioner ' +
    `'${provisioner}' or manually by the system administrator. If volume creation is delayed, ` +
    'please verify that the provisioner is running and correctly registered.'
  yield* recordEvent(asked.object, 'Normal', 'ExternalProvisioning', text)
}

/** The one plugin that could, were it not switched off for good. */
function* refuseHostPath(
  binder: Binder,
  claim: PersistentVolumeClaim,
  { metadata, mountOptions = [] }: StorageClass,
): Reconcile {
  if (claim.spec?.dataSource !== undefined) {
    const text = 'Only CSI plugin can provision a claim with a datasource'
    return yield* refuse(claim, `plugin "${HOST_PATH_PLUGIN}" is not a CSI plugin. ${text}`)
  }
  const asked = yield* setProvisioner(binder, claim, HOST_PATH_PLUGIN)
  if (!asked.ok) return { error: asked.error }
  if (binder.volumes.get(undefined, `pvc-${claim.metadata?.uid}`) !== undefined) return
  binder.metrics.operationFailed(HOST_PATH_PLUGIN, 'provision')
  if (mountOptions.length > 0) {
    const text = 'Mount options are not supported by the provisioner but StorageClass'
    const options = mountOptions.join(' ')
    return yield* refuse(asked.object, `${text} "${metadata?.name}" has mount options [${options}]`)
  }
  const text = `provisioning in volume plugin "${HOST_PATH_PLUGIN}" is disabled`
  return yield* refuse(asked.object, `Failed to create provisioner: ${text}`)
}

function* setProvisioner(
  binder: Binder,
  claim: PersistentVolumeClaim,
  provisioner: string,
): Reconcile<Outcome<PersistentVolumeClaim>> {
  const stable = withAnnotation(claim, STORAGE_PROVISIONER, provisioner)
  const asked = withAnnotation(stable, BETA_STORAGE_PROVISIONER, provisioner)
  return asked === claim ? unchanged(claim) : yield* saveClaim(binder, asked)
}

/** A class or a plugin that is not there will not come by trying: the next resync looks again. */
function* refuse(claim: PersistentVolumeClaim, text: string): Reconcile {
  yield* recordEvent(claim, 'Warning', 'ProvisioningFailed', text)
}
