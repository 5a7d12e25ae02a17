/** The load balancers of the cloud: which Service has which address, and listeners there. */
import type { EndpointSlice, LoadBalancerStatus, Node, Service } from '@gyropilot/api'
import { defaultLoadBalancerName } from '@gyropilot/cloud-provider'
import type { LoadBalancers } from '@gyropilot/cloud-provider'
import type { CallFaults } from '@gyropilot/cloud-provider/in-memory'
import { errorText } from '@gyropilot/foundation'
import { AddressPool } from './addresses.ts'
import { Balancer } from './balancer.ts'
import type { BalancerSurroundings } from './balancer.ts'
import type { ServedService } from './health-check.ts'
import { wishOf } from './balancer-wish.ts'
import type { Cidr } from '@gyropilot/api'

interface BalancersOptions extends BalancerSurroundings {
  readonly addresses: Cidr
  readonly faults: CallFaults
  /** EndpointSlices of a Service. */
  slicesOf(namespace: string, name: string): readonly EndpointSlice[]
}

/** Another program may sit on addresses of ours: so many are tried for a new balancer. */
const MOST_TRIES = 64

export class Balancers implements LoadBalancers {
  readonly #options: BalancersOptions
  readonly #pool: AddressPool
  /** By name. */
  readonly #balancers = new Map<string, Balancer>()

  constructor(options: BalancersOptions) {
    this.#options = options
    this.#pool = new AddressPool(options.addresses)
  }

  get all(): readonly Balancer[] {
    return [...this.#balancers.values()]
  }

  getLoadBalancerName(_clusterName: string, service: Service): string {
    return defaultLoadBalancerName(service)
  }

  getLoadBalancer(
    clusterName: string,
    service: Service,
    signal: AbortSignal,
  ): Promise<LoadBalancerStatus | undefined> {
    return this.#call('getLoadBalancer', [clusterName, service], signal, () => {
      const balancer = this.#balancers.get(defaultLoadBalancerName(service))
      return Promise.resolve(balancer === undefined ? undefined : statusOf(balancer))
    })
  }

  ensureLoadBalancer(
    clusterName: string,
    service: Service,
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<LoadBalancerStatus> {
    return this.#call('ensureLoadBalancer', [clusterName, service, nodes], signal, async () => {
      const known = this.#balancers.get(defaultLoadBalancerName(service))
      const balancer = known ?? (await this.#create(service, nodes))
      if (known !== undefined) await listenOr(service, () => known.become(wishOf(service), nodes))
      return statusOf(balancer)
    })
  }

  updateLoadBalancer(
    clusterName: string,
    service: Service,
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<void> {
    return this.#call('updateLoadBalancer', [clusterName, service, nodes], signal, async () => {
      const balancer = this.#balancers.get(defaultLoadBalancerName(service))
      if (balancer === undefined) throw new Error('load balancer not found')
      await listenOr(service, () => balancer.withNodes(nodes))
    })
  }

  ensureLoadBalancerDeleted(
    clusterName: string,
    service: Service,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#call('ensureLoadBalancerDeleted', [clusterName, service], signal, () =>
      this.#remove(defaultLoadBalancerName(service)),
    )
  }

  /** Resolves when nothing is listened on any more. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#balancers.keys()].map((name) => this.#remove(name)))
  }

  async #remove(name: string): Promise<void> {
    const balancer = this.#balancers.get(name)
    if (balancer === undefined) return
    this.#balancers.delete(name)
    await balancer.close()
    this.#pool.giveBack(balancer.address)
  }

  /** On the address that was asked for, else the one that it had before a restart, else any. */
  async #create(service: Service, nodes: readonly Node[]): Promise<Balancer> {
    const name = defaultLoadBalancerName(service)
    const wish = wishOf(service)
    const asked = service.spec?.loadBalancerIP || undefined
    const before = service.status?.loadBalancer?.ingress?.[0]?.ip
    const fixed = this.#fixedAddress(name, asked, before)
    const tried = new Set<string>()
    for (;;) {
      const address = fixed ?? this.#pool.takeAny(name, tried)
      tried.add(address)
      const balancer = new Balancer(address, this.#served(service), this.#options)
      this.#balancers.set(name, balancer)
      try {
        await listenOr(service, () => balancer.become(wish, nodes))
        return balancer
      } catch (error) {
        await this.#remove(name)
        const isTaken = (error as { cause?: { code?: string } }).cause?.code === 'EADDRINUSE'
        if (fixed !== undefined || !isTaken || tried.size === MOST_TRIES) throw error
      }
    }
  }

  #fixedAddress(name: string, asked?: string, before?: string): string | undefined {
    if (asked === undefined) return before === undefined ? undefined : this.#pool.take(before, name)
    const address = this.#pool.take(asked, name)
    if (address === undefined)
      throw new Error(`address ${asked} is not of this cloud, or another balancer has it`)
    return address
  }

  #served({ metadata }: Service): ServedService {
    const { namespace = '', name = '' } = metadata ?? {}
    return { namespace, name, slices: () => this.#options.slicesOf(namespace, name) }
  }

  #call<T>(
    name: string,
    args: readonly unknown[],
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#options.faults.through(name, args, signal, work)
  }
}

function statusOf({ address }: Balancer): LoadBalancerStatus {
  return { ingress: [{ ip: address, ipMode: 'Proxy' }] }
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'this user may not listen on it: choose a port from 1024 on, or run as root',
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine does not have the address',
}

/** The event of the Service says what to do. */
async function listenOr(service: Service, listen: () => Promise<void>): Promise<void> {
  try {
    await listen()
  } catch (error) {
    const { code = '', address = '', port = '' } = error as Record<string, unknown>
    const why = WHY[String(code)] ?? errorText(error)
    const name = service.metadata?.name
    throw new Error(`cannot listen on ${address}:${port} for ${name}: ${why}`, { cause: error })
  }
}
