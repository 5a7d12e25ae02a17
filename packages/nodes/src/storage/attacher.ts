/** Attaches volumes to nodes and detaches them. Contract: docs/behaviour/simulation/storage.md, Attacher. */
import {
  hasFinalizer,
  isTerminating,
  resources,
  withFinalizer,
  withoutFinalizer,
} from '@gyropilot/api'
import type { PersistentVolume, VolumeAttachment } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { formatTime } from '@gyropilot/foundation'
import { lastStateOf } from '@gyropilot/runtime'
import { OperationRefused } from './driver-backend.ts'
import { DRIVER } from './driver-objects.ts'
import { KeyedLoop } from './keyed-loop.ts'
import { newestRead } from './newest-read.ts'
import { valuesOf } from './script.ts'
import { attachmentsOf, onAnyChange } from './storage-services.ts'
import type { StorageServices } from './storage-services.ts'

/** On volumes and attachments while the storage knows of them. */
export const ATTACHER_FINALIZER = `external-attacher/${DRIVER.replaceAll('.', '-')}`

export class Attacher {
  readonly #services: StorageServices
  readonly #loop: KeyedLoop
  readonly #volumes: KeyedLoop
  /** Volume -> uid of the attachment that was last let have it, which no cache need show yet. */
  readonly #granted = new Map<string, string>()

  constructor(services: StorageServices) {
    this.#services = services
    const { clock, logger, informers } = services
    const work = (name: string, signal: AbortSignal): Promise<void> => this.#sync(name, signal)
    this.#loop = new KeyedLoop({ clock, logger, work })
    this.#volumes = new KeyedLoop({ clock, logger, work: (name) => this.#release(name) })
    informers.attachments.addHandler({
      onAdd: (attachment) => this.#changed(attachment),
      onUpdate: (before, attachment) => {
        // What was written here, a finalizer or a failure, is no reason to try again at once.
        if (!isForUsTheSame(before, attachment)) this.#changed(attachment)
      },
      onDelete: (gone) => {
        const attachment = lastStateOf(gone)
        if (attachment !== undefined) this.#changed(attachment)
      },
    })
    onAnyChange(informers.volumes, ({ metadata }) => this.#volumes.add(metadata?.name ?? ''))
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#loop.run(signal), this.#volumes.run(signal)])
  }

  #changed({ metadata, spec }: VolumeAttachment): void {
    this.#loop.add(metadata?.name ?? '')
    const volumeName = spec?.source?.persistentVolumeName
    if (volumeName !== undefined) this.#volumes.add(volumeName)
  }

  async #sync(name: string, signal: AbortSignal): Promise<void> {
    const { informers, client } = this.#services
    const cached = informers.attachments.lister.get(undefined, name)
    if (cached?.spec?.attacher !== DRIVER || !needsWork(cached)) return
    // The cache may not have seen yet what was done.
    const attachments = client.resource(resources.volumeattachments)
    const attachment = await newestRead(cached, () => attachments.get(name))
    if (!needsWork(attachment)) return
    if (isTerminating(attachment)) await this.#detach(attachment, signal)
    else await this.#attach(attachment, signal)
  }

  async #attach(attachment: VolumeAttachment, signal: AbortSignal): Promise<void> {
    const { client, backend } = this.#services
    const attachments = client.resource(resources.volumeattachments)
    const guarded = hasFinalizer(attachment, ATTACHER_FINALIZER)
      ? attachment
      : await attachments.update(withFinalizer(attachment, ATTACHER_FINALIZER))
    try {
      const volume = await this.#guardedVolume(attachment)
      await backend.perform('attach', attachment.metadata?.uid ?? '', valuesOf(volume), signal)
      this.#refuseSecondNode(attachment, volume)
    } catch (error) {
      await this.#sayFailed(guarded, 'attachError', error)
      throw error
    }
    await attachments.patch(
      guarded.metadata?.name ?? '',
      { type: 'merge', value: { status: { attached: true, attachError: null } } },
      { subresource: 'status' },
    )
  }

  async #guardedVolume({ spec }: VolumeAttachment): Promise<PersistentVolume> {
    const { informers, client } = this.#services
    const name = spec?.source?.persistentVolumeName ?? ''
    const volume = informers.volumes.lister.get(undefined, name)
    if (volume === undefined) throw new OperationRefused(`persistentvolume "${name}" not found`)
    if (isTerminating(volume) && !hasFinalizer(volume, ATTACHER_FINALIZER))
      throw new OperationRefused(`PersistentVolume "${name}" is marked for deletion`)
    const guarded = withFinalizer(volume, ATTACHER_FINALIZER)
    return guarded === volume
      ? volume
      : await client.resource(resources.persistentvolumes).update(guarded)
  }

  /** A disk is in one machine at a time, also while nobody has been told of it. */
  #refuseSecondNode({ metadata, spec }: VolumeAttachment, volume: PersistentVolume): void {
    const modes = volume.spec?.accessModes ?? []
    if (modes.includes('ReadWriteMany') || modes.includes('ReadOnlyMany')) return
    const name = volume.metadata?.name ?? ''
    const granted = this.#granted.get(name)
    const elsewhere = attachmentsOf(this.#services.informers, name).find(
      (other) =>
        other.spec?.nodeName !== spec?.nodeName &&
        (other.status?.attached === true || other.metadata?.uid === granted),
    )
    if (elsewhere !== undefined)
      throw new OperationRefused(
        `rpc error: code = FailedPrecondition desc = volume ${name} is attached to node ${elsewhere.spec?.nodeName}`,
      )
    this.#granted.set(name, metadata?.uid ?? '')
  }

  async #detach(attachment: VolumeAttachment, signal: AbortSignal): Promise<void> {
    const { client, backend, informers } = this.#services
    const volumeName = attachment.spec?.source?.persistentVolumeName ?? ''
    const volume = informers.volumes.lister.get(undefined, volumeName)
    try {
      // Of a volume whose object was forced away nothing is known that could go wrong.
      const values = volume === undefined ? {} : valuesOf(volume)
      await backend.perform('detach', attachment.metadata?.uid ?? '', values, signal)
      if (this.#granted.get(volumeName) === attachment.metadata?.uid)
        this.#granted.delete(volumeName)
    } catch (error) {
      await this.#sayFailed(attachment, 'detachError', error)
      throw error
    }
    try {
      await client
        .resource(resources.volumeattachments)
        .update(withoutFinalizer(attachment, ATTACHER_FINALIZER))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** A volume that is to go, and that no node has, is let go. */
  async #release(name: string): Promise<void> {
    const { client, informers } = this.#services
    const volume = informers.volumes.lister.get(undefined, name)
    if (volume === undefined || !isTerminating(volume)) return
    if (!hasFinalizer(volume, ATTACHER_FINALIZER)) return
    if (attachmentsOf(informers, name).length > 0) return
    try {
      await client
        .resource(resources.persistentvolumes)
        .update(withoutFinalizer(volume, ATTACHER_FINALIZER))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #sayFailed(
    { metadata }: VolumeAttachment,
    field: 'attachError' | 'detachError',
    error: unknown,
  ): Promise<void> {
    if (!(error instanceof OperationRefused)) return
    const { client, clock } = this.#services
    const status = { [field]: { time: formatTime(clock.nowMs()), message: error.message } }
    await client
      .resource(resources.volumeattachments)
      .patch(metadata?.name ?? '', { type: 'merge', value: { status } }, { subresource: 'status' })
  }
}

function needsWork(attachment: VolumeAttachment): boolean {
  return isTerminating(attachment)
    ? hasFinalizer(attachment, ATTACHER_FINALIZER)
    : attachment.status?.attached !== true
}

function isForUsTheSame(a: VolumeAttachment, b: VolumeAttachment): boolean {
  return (
    a.metadata?.uid === b.metadata?.uid &&
    a.metadata?.deletionTimestamp === b.metadata?.deletionTimestamp &&
    a.status?.attached === b.status?.attached
  )
}
