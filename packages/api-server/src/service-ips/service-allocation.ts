/**
 * Gives Services their cluster addresses and node ports, and takes them back.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "Service allocation".
 */
import type { Logger, RandomSource } from '@gyropilot/foundation'
import type { AllocationHook, AllocationRequest } from '../contracts.ts'
import { internalError, invalid } from '../http/errors.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { parseIp } from '@gyropilot/schema/validation/ip'
import { loggingFailures } from '../storage/own-writes.ts'
import type { Store } from '../storage/store.ts'
import { IpAllocator, ownerless } from './ip-allocator.ts'
import type { Owner } from './ip-address-object.ts'
import { familyOf, setIpFamilies } from './ip-families.ts'
import type { IpFamily } from './ip-families.ts'
import { NodePortNumbers } from './node-port-numbers.ts'
import { NodePortAllocator } from './node-port-allocator.ts'
import type { PortRange } from './node-port-allocator.ts'
import {
  allocatedIps,
  dropFieldsOfOtherType,
  isHeadless,
  keepAllocated,
  mirrorClusterIps,
  needsClusterIp,
  needsHealthCheckPort,
  needsNodePorts,
  nodePortsOf,
} from './service-fields.ts'

interface ServiceAllocationOptions {
  readonly store: Store
  readonly random: RandomSource
  readonly logger: Logger
  /** One range per family, the cluster's first family first. Default `10.0.0.0/16`. */
  readonly ranges?: readonly string[]
  /** Default 30000-32767. */
  readonly nodePorts?: PortRange
}

export const DEFAULT_SERVICE_RANGES: readonly string[] = ['10.0.0.0/16']

export class ServiceAllocation implements AllocationHook {
  readonly group = ''
  readonly resource = 'services'
  readonly ips: IpAllocator
  readonly ports: NodePortAllocator
  /** Those of the cluster where no object says others. */
  readonly ranges: readonly string[]
  readonly #families: readonly IpFamily[]
  readonly #logger: Logger

  constructor({
    store,
    random,
    logger,
    ranges = DEFAULT_SERVICE_RANGES,
    nodePorts,
  }: ServiceAllocationOptions) {
    this.ips = new IpAllocator(store, random.fork('service-ips'), ranges)
    this.ports = new NodePortAllocator(store, random.fork('node-ports'), nodePorts)
    this.ranges = ranges
    this.#logger = logger
    this.#families = ranges.map((range) => familyOf(range.split('/')[0]!))
  }

  begin(request: AllocationRequest): (stored: boolean) => void {
    const { object: service, oldObject, dryRun } = request
    if (oldObject !== undefined) {
      mirrorClusterIps(service, oldObject)
      dropFieldsOfOtherType(service, oldObject)
      keepAllocated(service, oldObject)
    }
    mirrorClusterIps(service, undefined)
    const owner = ownerOf(service)
    const taken = new Taken((ip) => this.#releaseIp(ip, owner), this.ports)
    try {
      this.#takeAll(request, taken)
    } catch (error) {
      taken.giveBack()
      throw error
    }
    return (stored) => {
      if (!stored) taken.giveBack()
      else if (oldObject !== undefined && !dryRun) this.#release(oldObject, service)
    }
  }

  released(service: Stored): void {
    this.#release(service, undefined)
  }

  #takeAll(request: AllocationRequest, taken: Taken): void {
    const { object: service, oldObject } = request
    const errors = new FieldErrors()
    const refuse = (): void => {
      if (errors.list.length > 0)
        throw invalid('', 'Service', service['metadata'].name ?? '', errors.list)
    }
    setIpFamilies({ service, stored: oldObject, configured: this.#families }, errors)
    refuse()
    const had = oldObject === undefined ? [] : allocatedIps(oldObject)
    // Who could have had one and has none got by another way what it is: through its status.
    const isFirst = oldObject === undefined || !needsClusterIp(oldObject)
    const wantsMore = isFirst || had.length > 0
    if (
      needsClusterIp(service) &&
      !isHeadless(service) &&
      !(oldObject !== undefined && isHeadless(oldObject)) &&
      wantsMore &&
      (had.length === 0 || had.length < (service['spec'].ipFamilies ?? []).length)
    ) {
      this.#takeIps(request, had, taken, errors)
    }
    refuse()
    this.#takeNodePorts(request, taken)
  }

  #takeIps(
    { object: service, nowMs, dryRun }: AllocationRequest,
    had: readonly string[],
    taken: Taken,
    errors: FieldErrors,
  ): void {
    const { spec } = service
    const owner = ownerOf(service)
    const wanted: string[] = [...(spec.clusterIPs ?? [])]
    const families: IpFamily[] = spec.ipFamilies ?? []
    for (const [i, family] of families.entries()) {
      const given = wanted[i]
      if (given !== undefined && had.includes(given)) continue
      if (given === undefined || given === '') {
        const isOwned = dryRun || Boolean(owner.name)
        const found = this.ips.takeAny(family, owner, nowMs, dryRun || !isOwned)
        if (found === undefined)
          throw internalError('failed to allocate a serviceIP: range is full')
        if (!isOwned) {
          const problem = `failed to allocate IP: ${ownerless(found)}`
          errors.invalid('spec.clusterIPs', [''], problem)
          return
        }
        if (!dryRun) taken.ips.push(found)
        wanted[i] = found
      } else if (parseIp(given) !== undefined) {
        const problem = this.ips.take(given, owner, nowMs, dryRun)
        if (problem === undefined) {
          if (!dryRun) taken.ips.push(given)
        } else
          errors.invalid('spec.clusterIPs', wanted, `failed to allocate IP ${given}: ${problem}`)
      }
    }
    if (wanted.length === 0) return
    spec.clusterIPs = wanted
    spec.clusterIP = wanted[0]
  }

  #takeNodePorts({ object: service, oldObject, dryRun }: AllocationRequest, taken: Taken): void {
    const { spec } = service
    const ports: readonly Draft[] = spec.ports ?? []
    const had = new Set(oldObject === undefined ? [] : nodePortsOf(oldObject))
    const isWanted = needsNodePorts(service)
    const numbers = new NodePortNumbers(ports, oldObject !== undefined)
    for (const [i, port] of ports.entries()) {
      if (!isWanted && !(spec.type === 'LoadBalancer' && port['nodePort'])) continue
      const wanted = numbers.wantedFor(port)
      if (wanted === 0) port['nodePort'] = this.#takeAnyPort(taken, dryRun)
      else {
        port['nodePort'] = wanted
        if (!had.has(wanted) && !numbers.isOwn(port))
          this.#takePort(service, `spec.ports[${i}].nodePort`, wanted, taken, dryRun)
      }
      numbers.add(port)
    }
    this.#takeHealthCheckPort(service, had, taken, dryRun)
  }

  #takePort(service: Draft, field: string, port: number, taken: Taken, dryRun: boolean): void {
    const problem = this.ports.take(port, dryRun ? taken.shownPorts : undefined)
    if (problem === undefined) {
      const list = dryRun ? taken.shownPorts : taken.ports
      list.push(port)
      return
    }
    const errors = new FieldErrors()
    errors.invalid(field, port, problem)
    throw invalid('', 'Service', service['metadata'].name ?? '', errors.list)
  }

  #takeHealthCheckPort(
    service: Draft,
    had: ReadonlySet<number>,
    taken: Taken,
    dryRun: boolean,
  ): void {
    if (!needsHealthCheckPort(service)) return
    const { spec } = service
    const port: number = spec.healthCheckNodePort ?? 0
    if (port === 0) {
      spec.healthCheckNodePort = this.#takeAnyPort(taken, dryRun)
      return
    }
    if (had.has(port)) return
    const problem = this.ports.take(port, dryRun ? taken.shownPorts : undefined)
    if (problem !== undefined) {
      throw internalError(`failed to allocate requested HealthCheck NodePort ${port}: ${problem}`)
    }
    const list = dryRun ? taken.shownPorts : taken.ports
    list.push(port)
  }

  #takeAnyPort(taken: Taken, dryRun: boolean): number {
    const port = dryRun ? this.ports.shownAfter(taken.shownPorts) : this.ports.takeAny()
    if (port === undefined) throw internalError('failed to allocate a nodePort: range is full')
    const list = dryRun ? taken.shownPorts : taken.ports
    list.push(port)
    return port
  }

  /** Gives back what `before` had and `after` has not. */
  #release(before: Stored, after: Stored | undefined): void {
    const keptIps = new Set(after === undefined ? [] : allocatedIps(after))
    const keptPorts = new Set(after === undefined ? [] : nodePortsOf(after))
    for (const ip of allocatedIps(before))
      if (!keptIps.has(ip)) this.#releaseIp(ip, ownerOf(before))
    for (const port of nodePortsOf(before)) if (!keptPorts.has(port)) this.ports.release(port)
  }

  /** One that cannot be given back now is found by the repair. */
  #releaseIp(ip: string, owner: Owner): void {
    const release = (): void => this.ips.release(ip, owner)
    loggingFailures(this.#logger, 'An address of a Service could not be given back', release)()
  }
}

/** What one request took, to be given back when it fails. */
class Taken {
  readonly ips: string[] = []
  readonly ports: number[] = []
  /** Of a dry run, which takes none. */
  readonly shownPorts: number[] = []
  readonly #releaseIp: (ip: string) => void
  readonly #portAllocator: NodePortAllocator

  constructor(releaseIp: (ip: string) => void, ports: NodePortAllocator) {
    this.#releaseIp = releaseIp
    this.#portAllocator = ports
  }

  giveBack(): void {
    for (const ip of this.ips.splice(0)) this.#releaseIp(ip)
    for (const port of this.ports.splice(0)) this.#portAllocator.release(port)
  }
}

function ownerOf({ metadata }: Stored): Owner {
  return { namespace: metadata.namespace, name: metadata.name }
}
