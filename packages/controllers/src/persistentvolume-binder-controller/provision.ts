/**
 * A volume is asked for. Who makes it is outside: of the plugins in the tree only the names are left. Step numbers are those
 * of docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Provision.
 */
import { keyOf, storageClassNameOf } from '@gyropilot/api'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { driverOf } from '../volume-support/csi-migration.ts'
import { refuse, setProvisioner } from './claims/asked-provisioner.ts'
import type { Binder } from './binder.ts'
import { provisionHostPath } from './host-path/host-path-provisioner.ts'
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
  if (driver !== undefined || !isInTree(provisioner)) {
    binder.times.begun(keyOf(claim), 'provision', () => provisioner)
    return yield* askOutside(binder, claim, driver ?? provisioner)
  }
  // 4.
  if (provisioner === HOST_PATH_PLUGIN) return yield* provisionHostPath(binder, claim, found)
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
