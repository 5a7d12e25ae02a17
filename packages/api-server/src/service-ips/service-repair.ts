/**
 * Keeps Services, their IPAddress objects and their node ports in agreement, whoever wrote what past the allocators.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "Repair".
 */
import { splitKey } from '@gyropilot/api'
import { every } from '@gyropilot/foundation'
import type { Timer } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { ApiError } from '../contracts.ts'
import type { Store, StoreEvent, StoreWatch } from '../storage/store.ts'
import { IP_ADDRESSES } from './ip-allocator.ts'
import { reviewNodePorts } from './node-port-faults.ts'
import { RepairEvents } from './repair-events.ts'
import type { RepairEventsOptions } from './repair-events.ts'
import { faultsOf, judgeAddress } from './repair-rules.ts'
import type { AllocationView } from './repair-rules.ts'
import type { ServiceAllocation } from './service-allocation.ts'
import { allocatedIps } from './service-fields.ts'
import { isServiceAddress, SERVICE_CIDRS } from './service-ranges.ts'

interface ServiceRepairOptions extends RepairEventsOptions {
  readonly allocation: ServiceAllocation
}

const NETWORKING = 'networking.k8s.io'
const SERVICES = 'services'
const IP_CONTROLLER = 'ipallocator-repair-controller'
const PORT_CONTROLLER = 'portallocator-repair-controller'
/** Of a look at everything, which also finds what was deleted: an IPAddress that goes is missed by nobody until then. */
const PERIOD_MS = 180_000

/**
 * What is written is looked at right after it was, never inside another write. The look at everything is left out while
 * nothing was written since the last one, which found nothing: a cluster where nothing happens costs a timer.
 */
export class ServiceRepair {
  readonly #options: ServiceRepairOptions
  readonly #store: Store
  readonly #view: AllocationView
  readonly #events: RepairEvents
  /** Written since they were looked at; keys of the store. */
  readonly #services = new Set<string>()
  readonly #addresses = new Set<string>()
  /** Addresses whose Service may still come. */
  readonly #waits = new Map<string, Timer>()
  #watches: readonly StoreWatch[] = []
  #period: Timer | undefined
  #isScheduled = false
  #isSettled = false
  #isStopped = false

  constructor(options: ServiceRepairOptions) {
    const { allocation, server } = options
    const { store } = server
    this.#options = options
    this.#store = store
    this.#events = new RepairEvents(options)
    this.#view = {
      service: (namespace, name) =>
        store.get({ collection: SERVICES, key: `${namespace}/${name}` })?.object,
      address: (name) => store.get({ collection: IP_ADDRESSES, key: name })?.object,
      isInRange: (ip) => isServiceAddress(store, allocation.ranges, ip),
    }
  }

  /** When the server's own objects are there. No Service lacks its IPAddress when this returns. */
  start(): void {
    if (this.#isStopped) return
    const watched: readonly (readonly [string, (event: StoreEvent) => void])[] = [
      [SERVICES, (event) => this.#serviceWritten(event)],
      [IP_ADDRESSES, (event) => this.#addressWritten(event)],
      [SERVICE_CIDRS, () => void (this.#isSettled = false)],
    ]
    this.#watches = watched
      .map(([collection, listener]) =>
        this.#store.watch(collection, '', this.#store.revision, listener),
      )
      .filter((watch): watch is StoreWatch => watch !== 'expired')
    this.#repairAll()
    this.#period = every(this.#options.clock, PERIOD_MS, () => this.#repairAll())
  }

  stop(): void {
    this.#isStopped = true
    for (const watch of this.#watches) watch.stop()
    this.#period?.cancel()
    for (const wait of this.#waits.values()) wait.cancel()
    this.#events.stop()
  }

  #serviceWritten({ key }: StoreEvent): void {
    this.#isSettled = false
    this.#services.add(key)
    this.#schedule()
  }

  #addressWritten({ type, key }: StoreEvent): void {
    this.#isSettled = false
    if (type === 'deleted') {
      this.#stopWaiting(key)
      return
    }
    this.#addresses.add(key)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      if (!this.#isStopped) this.#lookAtWritten()
    })
  }

  #lookAtWritten(): void {
    const services = [...this.#services]
    this.#services.clear()
    for (const key of services) {
      const { namespace = '', name } = splitKey(key)
      const service = this.#view.service(namespace, name)
      if (service === undefined) continue
      this.#repairService(service)
      // Their Service has come.
      for (const ip of allocatedIps(service)) if (this.#waits.has(ip)) this.#addresses.add(ip)
    }
    const addresses = [...this.#addresses]
    this.#addresses.clear()
    for (const name of addresses) this.#repairAddress(name)
  }

  #repairAll(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const services = this.#all(SERVICES)
    for (const service of services) this.#repairService(service)
    for (const { metadata } of this.#all(IP_ADDRESSES)) this.#repairAddress(metadata.name)
    this.#repairNodePorts(services)
  }

  #all(collection: string): readonly Stored[] {
    const snapshot = this.#store.list(collection, '')
    return snapshot === 'expired' ? [] : snapshot.entries.map(({ object }) => object)
  }

  #repairService(service: Stored): void {
    for (const { finding, remake } of faultsOf(service, this.#view)) {
      this.#isSettled = false
      if (finding !== undefined)
        this.#events.report(service, { controller: IP_CONTROLLER, ...finding })
      if (remake !== undefined) void this.#remake(remake, service)
    }
  }

  /**
   * Within this turn when there is none. One that a finalizer holds is in the way until it is gone: the next look comes back to it,
   * as to one that cannot be written.
   */
  async #remake(address: string, { metadata }: Stored): Promise<void> {
    const { allocation, clock, logger } = this.#options
    const { namespace, name } = metadata
    const inTheWay = this.#view.address(address)
    if (inTheWay !== undefined) {
      await this.#delete(inTheWay)
      const service = this.#view.service(namespace, name)
      const isWanted = service !== undefined && allocatedIps(service).includes(address)
      if (!isWanted || this.#isStopped || this.#view.address(address) !== undefined) return
    }
    try {
      allocation.ips.record(address, { namespace, name }, clock.nowMs())
    } catch (error) {
      logger.error(error, 'An IPAddress could not be made', { name: address })
    }
  }

  #repairAddress(name: string): void {
    const { clock } = this.#options
    this.#stopWaiting(name)
    const address = this.#view.address(name)
    if (address === undefined) return
    const verdict = judgeAddress(address, this.#view, clock.nowMs())
    if (verdict.kind === 'wait') {
      const timer = clock.after(verdict.forMs, () => this.#repairAddress(name))
      this.#waits.set(name, timer)
    } else if (verdict.kind === 'leaked') {
      this.#isSettled = false
      this.#events.report(address, { controller: IP_CONTROLLER, ...verdict.finding })
      void this.#delete(address)
    }
  }

  /** What refuses it now is asked again at the next look. */
  async #delete({ metadata: { name, uid } }: Stored): Promise<void> {
    const { server, user, logger } = this.#options
    try {
      const preconditions = { uid }
      await server.delete(NETWORKING, 'ipaddresses', '', name, { preconditions }, user)
    } catch (error) {
      if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return
      logger.error(error, 'An IPAddress could not be deleted', { name })
    }
  }

  #repairNodePorts(services: readonly Stored[]): void {
    const { ports } = this.#options.allocation
    const { faults, used } = reviewNodePorts(services, ports.range, (port) => ports.isTaken(port))
    for (const { service, finding } of faults)
      this.#events.report(service, { controller: PORT_CONTROLLER, ...finding })
    const isSettled = ports.settle(used)
    if (faults.length > 0 || !isSettled) this.#isSettled = false
  }

  #stopWaiting(name: string): void {
    this.#waits.get(name)?.cancel()
    this.#waits.delete(name)
  }
}
