/** What every part of the storage driver works with. */
import { resources } from '@gyropilot/api'
import type {
  CSINode,
  KubernetesObject,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
} from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger } from '@gyropilot/foundation'
import { lastStateOf } from '@gyropilot/runtime'
import type { EventRecorder, Informer, InformerFactory, Lister } from '@gyropilot/runtime'
import type { DriverBackend } from './driver-backend.ts'

export interface StorageServices {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  readonly recorder: EventRecorder
  readonly backend: DriverBackend
  readonly informers: StorageInformers
}

interface StorageInformers {
  readonly claims: Informer<PersistentVolumeClaim>
  readonly volumes: Informer<PersistentVolume>
  readonly attachments: Informer<VolumeAttachment>
  readonly classes: Lister<StorageClass>
  readonly nodes: Lister<Node>
  readonly csiNodes: Lister<CSINode>
}

const BY_VOLUME = 'spec.source.persistentVolumeName'

export function storageInformers(informers: InformerFactory): StorageInformers {
  const attachments = informers.informer(resources.volumeattachments)
  attachments.addIndex(BY_VOLUME, ({ spec }) => {
    const name = spec?.source?.persistentVolumeName
    return name === undefined ? [] : [name]
  })
  return {
    claims: informers.informer(resources.persistentvolumeclaims),
    volumes: informers.informer(resources.persistentvolumes),
    attachments,
    classes: informers.informer(resources.storageclasses).lister,
    nodes: informers.informer(resources.nodes).lister,
    csiNodes: informers.informer(resources.csinodes).lister,
  }
}

/** Of one volume, to whatever node. */
export function attachmentsOf(
  { attachments }: StorageInformers,
  volumeName: string,
): readonly VolumeAttachment[] {
  return attachments.lister.byIndex(BY_VOLUME, volumeName)
}

/** Calls back with the last known state of whatever comes, changes or goes. */
export function onAnyChange<T extends KubernetesObject>(
  informer: Informer<T>,
  changed: (object: T) => void,
): void {
  informer.addHandler({
    onAdd: changed,
    onUpdate: (_, current) => changed(current),
    onDelete: (gone) => {
      const object = lastStateOf(gone)
      if (object !== undefined) changed(object)
    },
  })
}
