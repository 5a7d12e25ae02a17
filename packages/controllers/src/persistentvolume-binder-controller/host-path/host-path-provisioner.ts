/**
 * Volumes that are folders of the manager's machine, for tests with one node. Step 4 of
 * docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Provision.
 */
import { isAlreadyExists } from '@gyropilot/client'
import { keyOf, requestedStorage, resources, storageClassNameOf } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { create, recordEvent, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { annotation, withoutAnnotation } from '../annotations.ts'
import { refuse, setProvisioner } from '../claims/asked-provisioner.ts'
import { saveClaim } from '../binder.ts'
import type { Binder, BegunVolume } from '../binder.ts'
import { referenceTo } from '../bind.ts'
import {
  BOUND_BY_CONTROLLER,
  IN_TREE_FINALIZER,
  PROVISIONED_BY,
  SAVE_INTERVAL_MS,
  SAVE_TRIES,
  SELECTED_NODE,
  YES,
} from '../config.ts'
import { makeFolder, removeFolder } from './host-path.ts'
import { operationId } from '../volumes/released-volume.ts'
import { HOST_PATH_PLUGIN } from '../storage-plugin.ts'

const FOLDER = '/tmp/hostpath_pv'

export function* provisionHostPath(
  binder: Binder,
  cached: PersistentVolumeClaim,
  storageClass: StorageClass,
): Reconcile {
  if (cached.spec?.dataSource !== undefined) {
    const text = 'Only CSI plugin can provision a claim with a datasource'
    return yield* refuse(cached, `plugin "${HOST_PATH_PLUGIN}" is not a CSI plugin. ${text}`)
  }
  const asked = yield* setProvisioner(binder, cached, HOST_PATH_PLUGIN)
  if (!asked.ok) return { error: asked.error }
  const claim = asked.object
  if (binder.volumes.get(undefined, volumeNameOf(claim)) !== undefined) {
    binder.begun.delete(keyOf(claim))
    return
  }
  binder.times.begun(keyOf(claim), 'provision', () => HOST_PATH_PLUGIN)
  const begun = binder.begun.get(keyOf(claim))
  if (begun !== undefined && begun.claimUid === claim.metadata?.uid)
    return yield* goOn(binder, claim, storageClass, begun)
  if (isOwnEcho(binder, cached, claim)) return
  if (binder.operations.isInBackoff(operationId('provision', claim))) return
  const problem = problemOf(binder, claim, storageClass)
  if (problem !== undefined) {
    binder.metrics.operationFailed(HOST_PATH_PLUGIN, 'provision')
    binder.operations.failed(operationId('provision', claim))
    if (claim !== cached)
      binder.toldAtOwnVersion.set(keyOf(claim), claim.metadata?.resourceVersion ?? '')
    return yield* refuse(claim, problem)
  }
  return yield* make(binder, claim, storageClass)
}

/** The claim with the annotations that were set when it was told: however late it comes, there is nothing new in it. */
function isOwnEcho(
  { toldAtOwnVersion }: Binder,
  cached: PersistentVolumeClaim,
  claim: PersistentVolumeClaim,
): boolean {
  const told = toldAtOwnVersion.get(keyOf(claim))
  toldAtOwnVersion.delete(keyOf(claim))
  return claim === cached && told === claim.metadata?.resourceVersion
}

function* goOn(
  binder: Binder,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  begun: BegunVolume,
): Reconcile {
  if (begun.state === 'unsaved') return yield* save(binder, claim, storageClass, begun)
  if (begun.state === 'given up') return yield* cleanUp(binder, claim, begun)
  // Saved: its event will come.
}

/** What no try can help. */
function problemOf(
  { settings, nodeNamed }: Binder,
  claim: PersistentVolumeClaim,
  { metadata, mountOptions = [] }: StorageClass,
): string | undefined {
  if (mountOptions.length > 0) {
    const text = 'Mount options are not supported by the provisioner but StorageClass'
    return `${text} "${metadata?.name}" has mount options [${mountOptions.join(' ')}]`
  }
  if (!settings.enableHostPathProvisioner)
    return `Failed to create provisioner: provisioning in volume plugin "${HOST_PATH_PLUGIN}" is disabled`
  const selected = annotation(claim, SELECTED_NODE)
  return selected !== undefined && nodeNamed(selected) === undefined
    ? `Failed to get target node: node ${JSON.stringify(selected)} not found`
    : undefined
}

function* make(
  binder: Binder,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): Reconcile {
  const path = `${FOLDER}/${binder.newId()}`
  const isBlock = claim.spec?.volumeMode === 'Block'
  const made = isBlock
    ? { error: new Error(`${HOST_PATH_PLUGIN} does not support block volume provisioning`) }
    : yield* makeFolder(binder, path)
  if ('error' in made) {
    binder.metrics.operationFailed(HOST_PATH_PLUGIN, 'provision')
    binder.metrics.pluginRan(HOST_PATH_PLUGIN, 'provision', false, 0)
    binder.operations.failed(operationId('provision', claim))
    const text = `Failed to provision volume with StorageClass "${storageClass.metadata?.name}"`
    yield* refuse(claim, `${text}: ${errorText(made.error)}`)
    return yield* deselect(binder, claim)
  }
  binder.metrics.pluginRan(HOST_PATH_PLUGIN, 'provision', true, 0)
  return yield* save(binder, claim, storageClass, begunAt(claim, path))
}

function begunAt({ metadata }: PersistentVolumeClaim, path: string): BegunVolume {
  return { claimUid: metadata?.uid, path, tries: 0, state: 'unsaved' }
}

/** The scheduler may choose another node. */
function* deselect(binder: Binder, claim: PersistentVolumeClaim): Reconcile {
  const free = withoutAnnotation(claim, SELECTED_NODE)
  if (free === claim) return
  const saved = yield* saveClaim(binder, free)
  return saved.ok ? undefined : { error: saved.error }
}

function* save(
  binder: Binder,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  begun: BegunVolume,
): Reconcile {
  const volume = hostPathVolume(claim, storageClass, begun.path)
  const created = yield* write(create(resources.persistentvolumes, volume))
  if (created.ok || isAlreadyExists(created.error)) {
    binder.begun.set(keyOf(claim), { ...begun, state: 'saved' })
    const text = `Successfully provisioned volume ${volume.metadata?.name} using ${HOST_PATH_PLUGIN}`
    return yield* recordEvent(claim, 'Normal', 'ProvisioningSucceeded', text)
  }
  if (begun.tries + 1 < SAVE_TRIES) return againLater(binder, claim, begun)
  const text = `Error creating provisioned PV object for claim ${keyOf(claim)}: ${errorText(created.error)}. Deleting the volume.`
  yield* refuse(claim, text)
  return yield* cleanUp(binder, claim, { ...begun, tries: 0, state: 'given up' })
}

function againLater(binder: Binder, claim: PersistentVolumeClaim, begun: BegunVolume): Verdict {
  binder.begun.set(keyOf(claim), { ...begun, tries: begun.tries + 1 })
  return { requeueAfterMs: SAVE_INTERVAL_MS }
}

function* cleanUp(binder: Binder, claim: PersistentVolumeClaim, begun: BegunVolume): Reconcile {
  const removed = yield* removeFolder(binder, begun.path)
  if (!removed.ok && begun.tries + 1 < SAVE_TRIES) return againLater(binder, claim, begun)
  binder.begun.delete(keyOf(claim))
  binder.operations.failed(operationId('provision', claim))
  if (removed.ok) return
  const text = `Error cleaning provisioned volume for claim ${keyOf(claim)}: ${errorText(removed.error)}. Please delete manually.`
  yield* recordEvent(claim, 'Warning', 'ProvisioningCleanupFailed', text)
}

function volumeNameOf({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata?.uid}`
}

function hostPathVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  path: string,
): PersistentVolume {
  const policy = storageClass.reclaimPolicy ?? 'Delete'
  const { accessModes, volumeMode } = claim.spec ?? {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeNameOf(claim),
      annotations: {
        'kubernetes.io/createdby': 'hostpath-dynamic-provisioner',
        [BOUND_BY_CONTROLLER]: YES,
        [PROVISIONED_BY]: HOST_PATH_PLUGIN,
      },
      ...(policy === 'Delete' ? { finalizers: [IN_TREE_FINALIZER] } : {}),
    },
    spec: {
      accessModes: accessModes ?? ['ReadWriteOnce'],
      capacity: { storage: requestedStorage(claim) },
      claimRef: referenceTo(claim),
      hostPath: { path },
      persistentVolumeReclaimPolicy: policy,
      storageClassName: storageClassNameOf(claim),
      ...(volumeMode === undefined ? {} : { volumeMode }),
    },
    status: { phase: 'Bound' },
  }
}
