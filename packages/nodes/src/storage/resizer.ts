/** Makes volumes larger whose claims ask for it. Contract: docs/behaviour/simulation/storage.md, Resizer. */
import {
  compareQuantities,
  keyOf,
  replaceCondition,
  requestedStorage,
  resources,
  volumeCapacity,
} from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { OperationRefused } from './driver-backend.ts'
import { DRIVER } from './driver-objects.ts'
import { KeyedLoop } from './keyed-loop.ts'
import { newestRead } from './newest-read.ts'
import { valuesOf } from './script.ts'
import { onAnyChange } from './storage-services.ts'
import type { StorageServices } from './storage-services.ts'

type ClaimStatus = NonNullable<PersistentVolumeClaim['status']>

export class Resizer {
  readonly #services: StorageServices
  readonly #loop: KeyedLoop

  constructor(services: StorageServices) {
    this.#services = services
    const { clock, logger, informers } = services
    const work = (key: string, signal: AbortSignal): Promise<void> => this.#resize(key, signal)
    this.#loop = new KeyedLoop({ clock, logger, work })
    onAnyChange(informers.claims, (claim) => this.#loop.add(keyOf(claim)))
    // A claim may be known before its volume is.
    onAnyChange(informers.volumes, ({ spec }) => {
      const { namespace, name } = spec?.claimRef ?? {}
      if (namespace && name) this.#loop.add(`${namespace}/${name}`)
    })
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal)
  }

  async #resize(key: string, signal: AbortSignal): Promise<void> {
    const { informers, backend, client } = this.#services
    const cached = informers.claims.lister.getByKey(key)
    if (cached === undefined || !wantsMore(cached)) return
    // The caches may not have seen yet what was done.
    const { namespace, name = '' } = cached.metadata ?? {}
    const claims = client.resource(resources.persistentvolumeclaims, namespace)
    let claim = await newestRead(cached, () => claims.get(name))
    if (claim.metadata?.uid !== cached.metadata?.uid || !wantsMore(claim)) return
    const volumeName = claim.spec?.volumeName ?? ''
    if (informers.volumes.lister.get(undefined, volumeName)?.spec?.csi?.driver !== DRIVER) return
    const volume = await client.resource(resources.persistentvolumes).get(volumeName)
    const storage = String(requestedStorage(claim))
    // Made larger already: the node that mounts it does the rest.
    const isLarge = compareQuantities(volumeCapacity(volume), storage) >= 0
    if (isLarge && isPendingOnNode(claim, storage)) return
    if (!isLarge) {
      const text = `External resizer is resizing volume ${volume.metadata?.name}`
      this.#tell(claim, 'Normal', 'Resizing', text)
      claim = await this.#say(claim, { ...progress(storage, 'ControllerResizeInProgress') })
      try {
        await backend.perform('resize', claim.metadata?.uid ?? '', valuesOf(volume), signal)
      } catch (error) {
        if (error instanceof OperationRefused)
          this.#tell(
            claim,
            'Warning',
            'VolumeResizeFailed',
            `resize volume "${volume.metadata?.name}" by resizer "${DRIVER}" failed: ${error.message}`,
          )
        throw error
      }
      await this.#enlarge(volume, storage)
    }
    await this.#say(claim, {
      ...progress(storage, 'NodeResizePending'),
      conditions: this.#pendingOnNode(claim),
    })
    const text = 'Require file system resize of volume on node'
    this.#tell(claim, 'Normal', 'FileSystemResizeRequired', text)
  }

  async #enlarge({ metadata }: PersistentVolume, storage: string): Promise<void> {
    const value = { metadata: { uid: metadata?.uid }, spec: { capacity: { storage } } }
    await this.#services.client
      .resource(resources.persistentvolumes)
      .patch(metadata?.name ?? '', { type: 'merge', value })
  }

  /** Of the claim as it was read: its node may have finished meanwhile, and nobody would put right what is said after that. */
  #say({ metadata }: PersistentVolumeClaim, status: ClaimStatus): Promise<PersistentVolumeClaim> {
    const { uid, resourceVersion } = metadata ?? {}
    const value = { metadata: { uid, resourceVersion }, status }
    return this.#services.client
      .resource(resources.persistentvolumeclaims, metadata?.namespace)
      .patch(metadata?.name ?? '', { type: 'merge', value }, { subresource: 'status' })
  }

  #pendingOnNode({ status }: PersistentVolumeClaim): NonNullable<ClaimStatus['conditions']> {
    const condition = {
      type: 'FileSystemResizePending',
      status: 'True',
      message:
        'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
      lastTransitionTime: formatTime(this.#services.clock.nowMs()),
    }
    return replaceCondition(status?.conditions, condition)
  }

  #tell(
    regarding: PersistentVolumeClaim,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
  ): void {
    this.#services.recorder.record({ regarding, type, reason, message })
  }
}

function wantsMore(claim: PersistentVolumeClaim): boolean {
  const { deletionTimestamp } = claim.metadata ?? {}
  if (claim.status?.phase !== 'Bound' || deletionTimestamp !== undefined) return false
  return compareQuantities(requestedStorage(claim), claim.status.capacity?.storage ?? '0') > 0
}

function isPendingOnNode({ status }: PersistentVolumeClaim, storage: string): boolean {
  return (
    status?.allocatedResourceStatuses?.storage === 'NodeResizePending' &&
    compareQuantities(status.allocatedResources?.storage ?? '0', storage) === 0
  )
}

function progress(
  storage: string,
  state: 'ControllerResizeInProgress' | 'NodeResizePending',
): ClaimStatus {
  return { allocatedResources: { storage }, allocatedResourceStatuses: { storage: state } }
}
