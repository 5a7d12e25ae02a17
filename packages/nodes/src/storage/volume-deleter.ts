/** Deletes volumes that nobody claims any more. Contract: docs/behaviour/simulation/storage.md, Deleter. */
import {
  hasFinalizer,
  isTerminating,
  resources,
  withFinalizer,
  withoutFinalizer,
} from '@gyropilot/api'
import type { PersistentVolume } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { OperationRefused } from './driver-backend.ts'
import { DRIVER } from './driver-objects.ts'
import { KeyedLoop } from './keyed-loop.ts'
import { DELETION_FINALIZER, PROVISIONED_BY } from './provisioned-volume.ts'
import { valuesOf } from './script.ts'
import { attachmentsOf, onAnyChange } from './storage-services.ts'
import type { StorageServices } from './storage-services.ts'
import { placeOf } from './volume-data.ts'
import type { VolumeData } from './volume-data.ts'

export class VolumeDeleter {
  readonly #services: StorageServices
  readonly #data: VolumeData
  readonly #loop: KeyedLoop

  constructor(services: StorageServices, data: VolumeData) {
    this.#services = services
    this.#data = data
    const { clock, logger, informers } = services
    const work = (key: string, signal: AbortSignal): Promise<void> => this.#work(key, signal)
    this.#loop = new KeyedLoop({ clock, logger, work })
    onAnyChange(informers.volumes, ({ metadata }) => this.#loop.add(metadata?.name ?? ''))
    onAnyChange(informers.attachments, ({ spec }) => {
      const name = spec?.source?.persistentVolumeName
      if (name !== undefined) this.#loop.add(name)
    })
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal)
  }

  async #work(name: string, signal: AbortSignal): Promise<void> {
    const volume = this.#services.informers.volumes.lister.get(undefined, name)
    if (volume?.metadata?.annotations?.[PROVISIONED_BY] !== DRIVER) return
    const isOurs = volume.spec?.csi?.driver === DRIVER
    if (!isOurs) return
    if (volume.status?.phase === 'Released' && isToBeDeleted(volume))
      return this.#delete(volume, signal)
    await this.#keepGuarded(volume)
  }

  /** Whoever deletes the object of a volume that is to be deleted waits for its storage to go. */
  async #keepGuarded(volume: PersistentVolume): Promise<void> {
    const guarded = hasFinalizer(volume, DELETION_FINALIZER)
    if (guarded === isToBeDeleted(volume) || (isTerminating(volume) && !guarded)) return
    await this.#update(
      guarded
        ? withoutFinalizer(volume, DELETION_FINALIZER)
        : withFinalizer(volume, DELETION_FINALIZER),
    )
  }

  async #delete(volume: PersistentVolume, signal: AbortSignal): Promise<void> {
    const { backend, informers, client } = this.#services
    const { name = '', uid = '' } = volume.metadata ?? {}
    const [attachment] = attachmentsOf(informers, name)
    if (attachment !== undefined) {
      this.#failed(
        volume,
        `persistentvolume ${name} is still attached to node ${attachment.spec?.nodeName}`,
      )
      // Its end is an event that brings the volume back here.
      return
    }
    try {
      await backend.perform('delete', uid, valuesOf(volume), signal)
    } catch (error) {
      if (error instanceof OperationRefused) this.#failed(volume, error.message)
      throw error
    }
    // What was provisioned is of no node.
    this.#data.destroy(placeOf(volume, ''))
    try {
      await client.resource(resources.persistentvolumes).delete(name, { preconditions: { uid } })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
    await this.#unguard(name, uid)
  }

  async #unguard(name: string, uid: string): Promise<void> {
    try {
      const stored = await this.#services.client.resource(resources.persistentvolumes).get(name)
      if (stored.metadata?.uid !== uid || !hasFinalizer(stored, DELETION_FINALIZER)) return
      await this.#update(withoutFinalizer(stored, DELETION_FINALIZER))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #update(volume: PersistentVolume): Promise<void> {
    await this.#services.client.resource(resources.persistentvolumes).update(volume)
  }

  #failed(regarding: PersistentVolume, message: string): void {
    const type = 'Warning'
    this.#services.recorder.record({ regarding, type, reason: 'VolumeFailedDelete', message })
  }
}

function isToBeDeleted({ spec }: PersistentVolume): boolean {
  return spec?.persistentVolumeReclaimPolicy === 'Delete'
}
