/**
 * A storage driver without storage: what a CSI driver with its provisioner, attacher and resizer does in a cluster, in one.
 * Its part on each node belongs to the simulated nodes. Contract: docs/behaviour/simulation/storage.md.
 */
import { resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { isAlreadyExists } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { EventRecorder, InformerFactory } from '@gyropilot/runtime'
import { Attacher } from './attacher.ts'
import { DriverBackend } from './driver-backend.ts'
import { csiDriver, standardClass } from './driver-objects.ts'
import { Provisioner } from './provisioner.ts'
import { Resizer } from './resizer.ts'
import { storageInformers } from './storage-services.ts'
import type { StorageServices } from './storage-services.ts'
import type { VolumeData } from './volume-data.ts'
import { VolumeDeleter } from './volume-deleter.ts'

const RETRY_MS = 1_000

interface StorageDriverOptions {
  readonly client: Client
  readonly informers: InformerFactory
  readonly clock: Clock
  readonly logger: Logger
  /** Events with the driver as their component. */
  readonly recorder: EventRecorder
  /** What is written on volumes, shared with the nodes. */
  readonly data: VolumeData
}

export class StorageDriver {
  readonly #services: StorageServices
  readonly #parts: readonly { run(signal: AbortSignal): Promise<void> }[]

  constructor(options: StorageDriverOptions) {
    const { client, informers, clock, logger, recorder, data } = options
    const services: StorageServices = {
      client,
      clock,
      logger,
      recorder,
      backend: new DriverBackend(clock),
      informers: storageInformers(informers),
    }
    this.#services = services
    this.#parts = [
      new Provisioner(services),
      new VolumeDeleter(services, data),
      new Attacher(services),
      new Resizer(services),
    ]
  }

  /** Brings the driver's objects; resolves when they are there. A class that a user deleted does not come back. */
  async install(signal: AbortSignal): Promise<void> {
    const { client, logger, clock } = this.#services
    for (;;) {
      try {
        const known = await client.resource(resources.csidrivers).list()
        const isNew = !known.items.some(
          ({ metadata }) => metadata?.name === csiDriver.metadata?.name,
        )
        // The class first: who finds the driver without it knows that somebody deleted it.
        if (isNew) await this.#bring(resources.storageclasses, standardClass)
        if (isNew) await this.#bring(resources.csidrivers, csiDriver)
        return
      } catch (error) {
        if (signal.aborted) throw error
        logger.error(error, 'Unable to register the storage driver')
      }
      await sleep(clock, RETRY_MS, signal)
    }
  }

  /** Works until `signal` aborts. The informers must be started and in sync. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.run(signal)))
  }

  async #bring<T extends KubernetesObject>(type: ResourceType<T>, object: T): Promise<void> {
    try {
      await this.#services.client.resource(type).create(object)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}
