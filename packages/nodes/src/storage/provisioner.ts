/** Makes volumes for claims that ask this driver. Contract: docs/behaviour/simulation/storage.md, Provisioner. */
import { keyOf, resources, storageClassNameOf, waitsForFirstConsumer } from '@gyropilot/api'
import type { Node, PersistentVolumeClaim, StorageClass } from '@gyropilot/api'
import { isAlreadyExists, isNotFound } from '@gyropilot/client'
import { DRIVER } from './driver-objects.ts'
import { OperationRefused } from './driver-backend.ts'
import { KeyedLoop } from './keyed-loop.ts'
import { attributesOf, provisionedVolume, segmentFor, volumeNameOf } from './provisioned-volume.ts'
import { isForWantOfRoom, valueProblems } from './script.ts'
import { onAnyChange } from './storage-services.ts'
import type { StorageServices } from './storage-services.ts'

const SELECTED_NODE = 'volume.kubernetes.io/selected-node'
const ASKED = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
]

export class Provisioner {
  readonly #services: StorageServices
  readonly #loop: KeyedLoop

  constructor(services: StorageServices) {
    this.#services = services
    const { clock, logger } = services
    const work = (key: string, signal: AbortSignal): Promise<void> => this.#provision(key, signal)
    this.#loop = new KeyedLoop({ clock, logger, work })
    onAnyChange(services.informers.claims, (claim) => this.#loop.add(keyOf(claim)))
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal)
  }

  async #provision(key: string, signal: AbortSignal): Promise<void> {
    const { informers, backend, client } = this.#services
    const claim = informers.claims.lister.getByKey(key)
    if (claim === undefined || !asksUs(claim)) return
    const className = storageClassNameOf(claim)
    const storageClass = informers.classes.get(undefined, className)
    // The claim may be seen before its class is.
    if (storageClass === undefined && className !== '')
      throw new Error(`storageclass "${className}" is not known`)
    if (storageClass?.provisioner !== DRIVER) return
    const nodeName = claim.metadata?.annotations?.[SELECTED_NODE]
    if (waitsForFirstConsumer(storageClass) && nodeName === undefined) return
    if (informers.volumes.lister.get(undefined, volumeNameOf(claim)) !== undefined) return
    const selected = nodeName === undefined ? undefined : this.#reachable(nodeName)
    if (nodeName !== undefined && selected === undefined)
      return this.#chooseAgain(claim, `node "${nodeName}" has no driver ${DRIVER}`)
    this.#begun(claim, storageClass)
    try {
      const values = attributesOf(claim, storageClass)
      await backend.perform('provision', claim.metadata?.uid ?? '', values, signal)
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error
      const { message } = error
      this.#failed(
        claim,
        `failed to provision volume with StorageClass "${storageClass.metadata?.name}": ${message}`,
      )
      if (nodeName !== undefined && isForWantOfRoom(message)) return this.#deselect(claim)
      throw error
    }
    const segment = segmentFor(claim, storageClass, selected, informers.nodes.list())
    const volume = provisionedVolume(claim, storageClass, segment)
    try {
      await client.resource(resources.persistentvolumes).create(volume)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    const message = `Successfully provisioned volume ${volume.metadata?.name}`
    this.#tell(claim, 'Normal', 'ProvisioningSucceeded', message)
  }

  /** Its node, when the driver runs there. */
  #reachable(nodeName: string): Node | undefined {
    const { nodes, csiNodes } = this.#services.informers
    const drivers = csiNodes.get(undefined, nodeName)?.spec?.drivers ?? []
    return drivers.some(({ name }) => name === DRIVER) ? nodes.get(undefined, nodeName) : undefined
  }

  #begun(claim: PersistentVolumeClaim, storageClass: StorageClass): void {
    const message = `External provisioner is provisioning volume for claim "${keyOf(claim)}"`
    this.#tell(claim, 'Normal', 'Provisioning', message)
    for (const problem of valueProblems(attributesOf(claim, storageClass)))
      this.#tell(claim, 'Warning', 'ParameterIgnored', problem)
  }

  #failed(claim: PersistentVolumeClaim, message: string): void {
    this.#tell(claim, 'Warning', 'ProvisioningFailed', message)
  }

  #tell(
    regarding: PersistentVolumeClaim,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
  ): void {
    this.#services.recorder.record({ regarding, type, reason, message })
  }

  #chooseAgain(claim: PersistentVolumeClaim, message: string): Promise<void> {
    this.#failed(claim, message)
    return this.#deselect(claim)
  }

  /** The scheduler chooses another node. */
  async #deselect(claim: PersistentVolumeClaim): Promise<void> {
    const { namespace, name = '', uid } = claim.metadata ?? {}
    const value = { metadata: { uid, annotations: { [SELECTED_NODE]: null } } }
    try {
      await this.#services.client
        .resource(resources.persistentvolumeclaims, namespace)
        .patch(name, { type: 'merge', value })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

function asksUs({ metadata, spec }: PersistentVolumeClaim): boolean {
  if (metadata?.deletionTimestamp !== undefined || spec?.volumeName) return false
  return ASKED.some((key) => metadata?.annotations?.[key] === DRIVER)
}
