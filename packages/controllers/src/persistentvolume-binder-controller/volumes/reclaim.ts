/**
 * What becomes of a volume whose claim is gone.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Reclaim.
 */
import { isNotFound } from '@gyropilot/client'
import {
  hasFinalizer,
  isTerminating,
  resources,
  storageClassNameOf,
  withoutFinalizer,
} from '@gyropilot/api'
import type { PersistentVolume } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { annotation } from '../annotations.ts'
import { saveVolume, unchanged } from '../binder.ts'
import type { Binder } from '../binder.ts'
import { IN_TREE_FINALIZER, MIGRATED_TO } from '../config.ts'
import { recycle } from './recycle.ts'
import { liveReleased, operationId } from './released-volume.ts'
import { removeFolder } from '../host-path/host-path.ts'
import { HOST_PATH_PLUGIN, deleterOf, hostPathRefusal } from '../storage-plugin.ts'
import type { Deleter } from '../storage-plugin.ts'
import { failVolume } from './volume-phase.ts'

export function* reclaim(binder: Binder, volume: PersistentVolume): Reconcile {
  if (annotation(volume, MIGRATED_TO)) return
  // Wider than the type: a later server may know more.
  const policy: string | undefined = volume.spec?.persistentVolumeReclaimPolicy
  switch (policy) {
    case 'Retain':
      return
    case 'Delete':
      return yield* deleteVolume(binder, volume)
    case 'Recycle':
      return yield* recycle(binder, volume)
    default: {
      const text = 'Volume has unrecognized PersistentVolumeReclaimPolicy'
      return yield* failVolume(binder, volume, 'VolumeUnknownReclaimPolicy', text)
    }
  }
}

function* deleteVolume(binder: Binder, volume: PersistentVolume): Reconcile {
  const deleter = deleterOf(volume)
  binder.times.begun(volume.metadata?.name ?? '', 'delete', () =>
    pluginNameOf(binder, volume, deleter),
  )
  if (deleter.kind === 'external') return
  if (deleter.kind === 'none')
    return yield* failVolume(binder, volume, 'VolumeFailedDelete', deleter.message)
  const id = operationId('delete', volume)
  if (binder.operations.isInBackoff(id)) return
  const live = yield* liveReleased(binder, volume)
  if ('error' in live) return live
  if (live.volume === undefined) return
  const refusal = hostPathRefusal(live.volume)
  if (refusal !== undefined) {
    binder.operations.failed(id)
    binder.metrics.operationFailed(HOST_PATH_PLUGIN, 'delete')
    binder.metrics.pluginRan(HOST_PATH_PLUGIN, 'delete', false, 0)
    return yield* failVolume(binder, live.volume, 'VolumeFailedDelete', refusal)
  }
  const removed = yield* removeFolder(binder, live.volume.spec?.hostPath?.path ?? '')
  if (!removed.ok) {
    binder.operations.failed(id)
    binder.metrics.operationFailed(HOST_PATH_PLUGIN, 'delete')
    binder.metrics.pluginRan(HOST_PATH_PLUGIN, 'delete', false, 0)
    return yield* failVolume(binder, live.volume, 'VolumeFailedDelete', errorText(removed.error))
  }
  binder.metrics.pluginRan(HOST_PATH_PLUGIN, 'delete', true, 0)
  return yield* removeObject(binder, live.volume)
}

/** A volume that is deleted outside counts under its class's provisioner. */
function pluginNameOf(binder: Binder, volume: PersistentVolume, deleter: Deleter): string {
  if (deleter.kind === 'host-path') return HOST_PATH_PLUGIN
  return binder.classNamed(storageClassNameOf(volume))?.provisioner ?? 'N/A'
}

/** The finalizer first: nobody else takes it away. */
function* removeObject(binder: Binder, volume: PersistentVolume): Reconcile {
  const freed = hasFinalizer(volume, IN_TREE_FINALIZER)
    ? yield* saveVolume(binder, withoutFinalizer(volume, IN_TREE_FINALIZER))
    : unchanged(volume)
  if (!freed.ok) return isNotFound(freed.error) ? undefined : { error: freed.error }
  if (isTerminating(volume)) return
  const removed = yield* write(remove(resources.persistentvolumes, volume))
  if (!removed.ok && !isNotFound(removed.error)) return { error: removed.error }
}
