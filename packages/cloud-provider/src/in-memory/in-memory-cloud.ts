import type { LoadBalancerStatus, Node, NodeAddress, Service } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import { byString } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { InstanceNotFound } from '../errors.ts'
import type { InstanceMetadata, Instances, InstancesV2 } from '../instances.ts'
import { defaultLoadBalancerName } from '../load-balancers.ts'
import type { LoadBalancers } from '../load-balancers.ts'
import type { CloudProvider } from '../provider.ts'
import type { Route, Routes } from '../routes.ts'
import type { Zones } from '../zones.ts'
import { CallFaults } from './call-faults.ts'

/** A machine of the cloud, under the name of its node. */
export interface Machine {
  /** Default: the node's name. */
  readonly instanceId?: string
  readonly instanceType?: string
  readonly addresses?: readonly NodeAddress[]
  readonly zone?: string
  readonly region?: string
  readonly additionalLabels?: Readonly<Record<string, string>>
  readonly isShutDown?: boolean
}

export interface Balancer {
  /** `namespace/name` of its Service. */
  readonly service: string
  readonly status: LoadBalancerStatus
  /** Names of the nodes that it sends to, sorted. */
  readonly nodes: readonly string[]
}

export type InMemoryPart = 'instancesV2' | 'instances' | 'zones' | 'loadBalancers' | 'routes'

export interface InMemoryCloudOptions {
  readonly clock: Clock
  /** Default `in-memory`. */
  readonly name?: string
  /** Default: instancesV2, loadBalancers and routes. */
  readonly parts?: readonly InMemoryPart[]
  /** The machine behind a node that nobody has added; undefined: there is none. Default: none. */
  readonly machineOf?: (nodeName: string) => Machine | undefined
  /** Routes are bound to addresses of nodes. Default false. */
  readonly tracksAddresses?: boolean
  /** `faults.calls` tells every call, with the objects that were handed in: not for a cloud that lives long. Default true. */
  readonly keepsCalls?: boolean
}

/** A cloud that is nothing but a few tables, for tests and simulations; `faults` stands between it and its callers. */
export class InMemoryCloud implements CloudProvider {
  readonly name: string
  readonly hasClusterId = true
  readonly faults: CallFaults
  /** By name of Service's balancer (`defaultLoadBalancerName`). */
  readonly balancers = new Map<string, Balancer>()
  readonly routeTable: Route[] = []
  readonly instancesV2?: InstancesV2
  readonly instances?: Instances
  readonly zones?: Zones
  readonly loadBalancers?: LoadBalancers
  readonly routes?: Routes
  readonly #machines = new Map<string, Machine>()
  readonly #terminated = new Set<string>()
  readonly #machineOf: (nodeName: string) => Machine | undefined
  readonly #tracksAddresses: boolean

  constructor(options: InMemoryCloudOptions) {
    const { parts = ['instancesV2', 'loadBalancers', 'routes'] } = options
    this.name = options.name ?? 'in-memory'
    this.faults = new CallFaults(options.clock, { keepsCalls: options.keepsCalls ?? true })
    this.#machineOf = options.machineOf ?? (() => undefined)
    this.#tracksAddresses = options.tracksAddresses ?? false
    if (parts.includes('instancesV2')) this.instancesV2 = this.#instancesV2()
    if (parts.includes('instances')) this.instances = this.#instances()
    if (parts.includes('zones')) this.zones = this.#zones()
    if (parts.includes('loadBalancers')) this.loadBalancers = this.#loadBalancers()
    if (parts.includes('routes')) this.routes = this.#routes()
  }

  /** Adds a machine, or changes it. */
  addMachine(nodeName: string, machine: Machine = {}): void {
    this.#terminated.delete(nodeName)
    this.#machines.set(nodeName, machine)
  }

  /** The machine is gone for good, until one of its name is added. */
  terminate(nodeName: string): void {
    this.#machines.delete(nodeName)
    this.#terminated.add(nodeName)
  }

  machine(nodeName: string): Machine | undefined {
    if (this.#terminated.has(nodeName)) return undefined
    return this.#machines.get(nodeName) ?? this.#machineOf(nodeName)
  }

  providerIdOf(nodeName: string): string {
    return `${this.name}://${this.machine(nodeName)?.instanceId ?? nodeName}`
  }

  #nodeNameOf(providerId: string): string {
    const named = [...this.#machines.keys()].find((name) => this.providerIdOf(name) === providerId)
    return named ?? providerId.slice(`${this.name}://`.length)
  }

  #existing(nodeName: string): Machine {
    const machine = this.machine(nodeName)
    if (machine === undefined) throw new InstanceNotFound()
    return machine
  }

  #instancesV2(): InstancesV2 {
    const call = this.#call
    return {
      instanceExists: (node, signal) =>
        call('instanceExists', [node], signal, () => this.machine(nameOf(node)) !== undefined),
      instanceShutdown: (node, signal) =>
        call('instanceShutdown', [node], signal, () => {
          return this.#existing(nameOf(node)).isShutDown ?? false
        }),
      instanceMetadata: (node, signal) =>
        call('instanceMetadata', [node], signal, () => this.#metadata(nameOf(node))),
    }
  }

  #metadata(nodeName: string): InstanceMetadata {
    const { instanceType, addresses, zone, region, additionalLabels } = this.#existing(nodeName)
    return {
      providerId: this.providerIdOf(nodeName),
      instanceType,
      nodeAddresses: addresses,
      zone,
      region,
      additionalLabels,
    }
  }

  #instances(): Instances {
    const call = this.#call
    const of = (providerId: string): Machine => this.#existing(this.#nodeNameOf(providerId))
    return {
      nodeAddresses: (name, signal) =>
        call('nodeAddresses', [name], signal, () => this.#existing(name).addresses ?? []),
      nodeAddressesByProviderId: (id, signal) =>
        call('nodeAddressesByProviderId', [id], signal, () => of(id).addresses ?? []),
      instanceId: (name, signal) =>
        call('instanceId', [name], signal, () => this.#existing(name).instanceId ?? name),
      instanceType: (name, signal) =>
        call('instanceType', [name], signal, () => this.#existing(name).instanceType ?? ''),
      instanceTypeByProviderId: (id, signal) =>
        call('instanceTypeByProviderId', [id], signal, () => of(id).instanceType ?? ''),
      instanceExistsByProviderId: (id, signal) =>
        call('instanceExistsByProviderId', [id], signal, () => {
          return this.machine(this.#nodeNameOf(id)) !== undefined
        }),
      instanceShutdownByProviderId: (id, signal) =>
        call('instanceShutdownByProviderId', [id], signal, () => of(id).isShutDown ?? false),
    }
  }

  #zones(): Zones {
    const call = this.#call
    const of = (nodeName: string): { failureDomain: string; region: string } => {
      const { zone = '', region = '' } = this.#existing(nodeName)
      return { failureDomain: zone, region }
    }
    return {
      getZoneByProviderId: (id, signal) =>
        call('getZoneByProviderId', [id], signal, () => of(this.#nodeNameOf(id))),
      getZoneByNodeName: (name, signal) =>
        call('getZoneByNodeName', [name], signal, () => of(name)),
    }
  }

  #loadBalancers(): LoadBalancers {
    const call = this.#call
    return {
      getLoadBalancer: (cluster, service, signal) =>
        call('getLoadBalancer', [cluster, service], signal, () => {
          return this.balancers.get(defaultLoadBalancerName(service))?.status
        }),
      getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
      ensureLoadBalancer: (cluster, service, nodes, signal) =>
        call('ensureLoadBalancer', [cluster, service, nodes], signal, () => {
          return this.#ensure(service, nodes)
        }),
      updateLoadBalancer: (cluster, service, nodes, signal) =>
        call('updateLoadBalancer', [cluster, service, nodes], signal, () => {
          if (!this.balancers.has(defaultLoadBalancerName(service)))
            throw new Error('load balancer not found')
          this.#ensure(service, nodes)
        }),
      ensureLoadBalancerDeleted: (cluster, service, signal) =>
        call('ensureLoadBalancerDeleted', [cluster, service], signal, () => {
          this.balancers.delete(defaultLoadBalancerName(service))
        }),
    }
  }

  #ensure(service: Service, nodes: readonly Node[]): LoadBalancerStatus {
    const name = defaultLoadBalancerName(service)
    const status = this.balancers.get(name)?.status ?? {
      ingress: [{ ip: this.#freeAddress(), ipMode: 'VIP' }],
    }
    const names = nodes.map(nameOf).sort(byString((text) => text))
    this.balancers.set(name, { service: keyOf(service), status, nodes: names })
    return status
  }

  /** The lowest of 203.0.113.0/24 and on that no balancer has. */
  #freeAddress(): string {
    const taken = new Set(
      [...this.balancers.values()].flatMap(({ status }) => status.ingress?.map(({ ip }) => ip)),
    )
    for (let number = 1; ; number++) {
      const address = `203.0.${113 + Math.floor(number / 256)}.${number % 256}`
      if (!taken.has(address)) return address
    }
  }

  #routes(): Routes {
    const call = this.#call
    return {
      listRoutes: (cluster, signal) =>
        call('listRoutes', [cluster], signal, () => [...this.routeTable]),
      createRoute: (cluster, nameHint, route, signal) =>
        call('createRoute', [cluster, nameHint, route], signal, () => {
          const name = `${nameHint}-${route.destinationCidr}`
          if (this.routeTable.some((existing) => existing.name === name))
            throw new Error(`route ${name} exists already`)
          this.routeTable.push({
            ...route,
            name,
            enableNodeAddresses: this.#tracksAddresses,
          })
        }),
      deleteRoute: (cluster, route, signal) =>
        call('deleteRoute', [cluster, route], signal, () => {
          const at = this.routeTable.findIndex(({ name }) => name === route.name)
          if (at >= 0) this.routeTable.splice(at, 1)
        }),
    }
  }

  readonly #call = <T>(
    name: string,
    args: readonly unknown[],
    signal: AbortSignal,
    work: () => T,
  ): Promise<T> => this.faults.through(name, args, signal, work)
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}
