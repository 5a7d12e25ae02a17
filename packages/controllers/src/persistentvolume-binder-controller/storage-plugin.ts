/**
 * What upstream's plugins in the tree can do with a released volume.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Reclaim.
 */
import type { PersistentVolume } from '@gyropilot/api'
import type { PersistentVolumeBinderConfiguration, RecyclerConfiguration } from './config.ts'
import { driverOf } from '../volume-support/csi-migration.ts'
import { annotation } from './annotations.ts'
import { PROVISIONED_BY } from './config.ts'
import { isInTree } from './migration.ts'

export const HOST_PATH_PLUGIN = 'kubernetes.io/host-path'
const NFS_PLUGIN = 'kubernetes.io/nfs'

/** Who deletes the storage: somebody else, this process, or nobody. */
export type Deleter =
  | { readonly kind: 'external' }
  | { readonly kind: 'host-path' }
  | { readonly kind: 'none'; readonly message: string }

export function deleterOf(volume: PersistentVolume): Deleter {
  const provisioner = annotation(volume, PROVISIONED_BY)
  if (provisioner) {
    if (driverOf(provisioner) !== undefined || !isInTree(provisioner)) return { kind: 'external' }
    if (provisioner === HOST_PATH_PLUGIN) {
      if (volume.spec?.hostPath !== undefined) return { kind: 'host-path' }
      const subject = `failed to create deleter for volume "${volume.metadata?.name}"`
      return { kind: 'none', message: `${subject}: spec.PersistentVolumeSource.HostPath is nil` }
    }
    return { kind: 'none', message: `no volume plugin matched name: ${provisioner}` }
  }
  if (volume.spec?.csi !== undefined) return { kind: 'external' }
  const plugin = pluginOf(volume)
  if (plugin === HOST_PATH_PLUGIN) return { kind: 'host-path' }
  const reason =
    plugin === undefined ? 'no volume plugin matched' : 'no deletable volume plugin matched'
  const subject = `error getting deleter volume plugin for volume "${volume.metadata?.name}"`
  return { kind: 'none', message: `${subject}: ${reason}` }
}

/** Of those that upstream's manager still has; not even CSI is among them. */
export function pluginOf({ spec }: PersistentVolume): string | undefined {
  if (spec?.hostPath !== undefined) return HOST_PATH_PLUGIN
  return spec?.nfs === undefined ? undefined : NFS_PLUGIN
}

/** Why the folder may not be deleted; undefined: it may. */
export function hostPathRefusal({ spec }: PersistentVolume): string | undefined {
  const path = spec?.hostPath?.path ?? ''
  const isInside = /^\/tmp\/./.test(path) && !path.split('/').includes('..')
  if (isInside) return undefined
  return `host_path deleter only supports /tmp/.+ but received provided ${path}`
}

/** Undefined: no plugin empties such a volume. */
export function recyclerOf(
  { spec }: PersistentVolume,
  { recyclers }: PersistentVolumeBinderConfiguration,
): RecyclerConfiguration | undefined {
  if (spec?.hostPath !== undefined) return recyclers.hostPath
  return spec?.nfs === undefined ? undefined : recyclers.nfs
}
