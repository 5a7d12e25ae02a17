/**
 * A driver on every node that publishes as many devices as the node is annotated with, so that claims for devices can be
 * served. Contract: docs/behaviour/simulation/kubelet.md, Devices.
 */
import { deepEqual, resources } from '@gyropilot/api'
import type { Node, ResourceSlice } from '@gyropilot/api'
import { isAlreadyExists, isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import { DEVICES_ANNOTATION, classOf, devicesOf, sliceName, sliceOf } from './device-list.ts'

const FIRST_RETRY_MS = 200
const RETRY_LIMIT_MS = 10_000

interface DeviceDriverServices {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  recorderOf(nodeName: string): EventRecorder
}

export class DeviceDriver {
  readonly #services: DeviceDriverServices
  /** Nodes to look at, and those that are looked at; the newest state counts. */
  readonly #waiting = new Map<string, Node>()
  readonly #working = new Set<string>()

  constructor(services: DeviceDriverServices) {
    this.#services = services
  }

  /** Publishes what the node asks for, in the background. A node that never asked costs nothing. */
  observe(before: Node | undefined, node: Node, signal: AbortSignal): void {
    const name = node.metadata?.name ?? ''
    const isSame =
      before?.metadata?.uid === node.metadata?.uid &&
      before?.metadata?.annotations?.[DEVICES_ANNOTATION] ===
        node.metadata?.annotations?.[DEVICES_ANNOTATION]
    const wants = node.metadata?.annotations?.[DEVICES_ANNOTATION] !== undefined
    if (isSame || (!wants && before === undefined)) return
    this.#waiting.set(name, node)
    if (!this.#working.has(name)) void this.#work(name, signal)
  }

  async #work(name: string, signal: AbortSignal): Promise<void> {
    this.#working.add(name)
    let waitMs = FIRST_RETRY_MS
    for (let node = this.#waiting.get(name); node && !signal.aborted;) {
      this.#waiting.delete(name)
      try {
        await this.#publish(node)
        waitMs = FIRST_RETRY_MS
      } catch (error) {
        if (signal.aborted) break
        if (!isConflict(error))
          this.#services.logger.error(error, 'Devices were not published', { node: name })
        await sleep(this.#services.clock, waitMs, signal).catch(() => {})
        waitMs = Math.min(waitMs * 2, RETRY_LIMIT_MS)
        if (!this.#waiting.has(name)) this.#waiting.set(name, node)
      }
      node = this.#waiting.get(name)
    }
    this.#working.delete(name)
  }

  async #publish(node: Node): Promise<void> {
    const wanted = devicesOf(node, (message) => this.#report(node, message))
    for (const [driver, count] of wanted) {
      await this.#createClass(driver)
      await this.#putSlice(node, driver, count)
    }
    await this.#removeOthers(node, wanted)
  }

  /** Slices of drivers that the node no longer names. */
  async #removeOthers(node: Node, wanted: ReadonlyMap<string, number>): Promise<void> {
    const name = node.metadata?.name ?? ''
    const slices = this.#services.client.resource(resources.resourceslices)
    const { items } = await slices.list({ fieldSelector: `spec.nodeName=${name}` })
    for (const { metadata, spec } of items) {
      if (metadata?.name !== sliceName(name, spec.driver) || wanted.has(spec.driver)) continue
      await slices.delete(metadata.name).catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
    }
  }

  /** So that people can ask for devices of the driver at once; one that is there is somebody's own. */
  async #createClass(driver: string): Promise<void> {
    try {
      await this.#services.client.resource(resources.deviceclasses).create(classOf(driver))
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }

  /** Another number of devices is another generation of the pool. */
  async #putSlice(node: Node, driver: string, count: number): Promise<void> {
    const slices = this.#services.client.resource(resources.resourceslices)
    const known = await slices
      .get(sliceName(node.metadata?.name ?? '', driver))
      .catch((error: unknown): ResourceSlice | undefined => {
        if (!isNotFound(error)) throw error
        return undefined
      })
    if (known === undefined) {
      await slices.create(sliceOf(node, driver, count, 1))
      return
    }
    const generation = Number(known.spec.pool.generation)
    const names = (slice: ResourceSlice) => (slice.spec.devices ?? []).map((device) => device.name)
    const wanted = sliceOf(node, driver, count, generation + 1)
    if (deepEqual(names(known), names(wanted))) return
    await slices.update({ ...known, spec: wanted.spec })
  }

  #report(node: Node, message: string): void {
    const recorder = this.#services.recorderOf(node.metadata?.name ?? '')
    recorder.record({ regarding: node, type: 'Warning', reason: 'AnnotationIgnored', message })
  }
}
