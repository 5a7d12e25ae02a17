/**
 * A cloud on the loopback addresses of this machine. Its load balancers are listeners that lead to ready back ends, so what
 * `kubectl expose --type=LoadBalancer` answers can be reached with curl. Contract: docs/guides/loopback-cloud.md.
 */
import { resources } from '@gyropilot/api'
import type { EndpointSlice } from '@gyropilot/api'
import type { CloudProvider, ProviderSurroundings } from '@gyropilot/cloud-provider'
import { CallFaults } from '@gyropilot/cloud-provider/in-memory'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { InformerFactory, Lister } from '@gyropilot/runtime'
import { addressAt, loopbackNetwork } from './addresses.ts'
import { Balancers } from './balancers.ts'
import { controlAddress } from './config.ts'
import type { LoopbackConfig } from './config.ts'
import { controlAnswer } from './control.ts'
import { Machines, numberOf } from './machines.ts'
import type { Network, PodNetwork } from './network.ts'
import { RouteTable } from './route-table.ts'

export interface LoopbackCloudOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly config: LoopbackConfig
  readonly network: Network
  readonly pods: PodNetwork
}

const BY_SERVICE = 'loopbackService'
const SERVICE_NAME = 'kubernetes.io/service-name'

export class LoopbackCloud implements CloudProvider {
  readonly name = 'loopback'
  readonly hasClusterId = true
  readonly faults: CallFaults
  readonly instancesV2: Machines
  readonly loadBalancers: Balancers
  readonly routes: RouteTable
  readonly #options: LoopbackCloudOptions
  #slices: Lister<EndpointSlice> | undefined

  constructor(options: LoopbackCloudOptions) {
    this.#options = options
    const { clock, config, logger, network, pods } = options
    const machineNetwork = loopbackNetwork(config.machineAddresses)
    const addressOf = (nodeName: string): string => addressAt(machineNetwork, numberOf(nodeName))
    const faults = new CallFaults(clock, { keepsCalls: false })
    this.faults = faults
    this.instancesV2 = new Machines({
      providerName: this.name,
      faults,
      region: config.region,
      zones: config.zones,
      addressOf,
    })
    this.routes = new RouteTable(faults)
    this.loadBalancers = new Balancers({
      clock,
      logger,
      network,
      pods,
      faults,
      addresses: loopbackNetwork(config.addresses),
      addressOfNode: addressOf,
      slicesOf: (namespace, name) =>
        this.#slices?.byIndex(BY_SERVICE, `${namespace}/${name}`) ?? [],
    })
  }

  /** Opens the control endpoint; all listeners end with the process. */
  async initialize({ signal }: ProviderSurroundings): Promise<void> {
    const { config, network, logger } = this.#options
    const ends: (() => Promise<void>)[] = [() => this.loadBalancers.closeAll()]
    if (config.control !== '') {
      const { host, port } = controlAddress(config.control)
      const cloud = {
        balancers: this.loadBalancers,
        machines: this.instancesV2,
        routes: this.routes,
        faults: this.faults,
      }
      const control = await network.listenHttp(host, port, (asked) => controlAnswer(cloud, asked))
      ends.push(() => control.close())
    }
    const end = (): void => {
      for (const close of ends)
        close().catch((error: unknown) => logger.error(error, 'A listener was not closed'))
    }
    signal.addEventListener('abort', end, { once: true })
  }

  setInformers(informers: InformerFactory): void {
    const slices = informers.informer(resources.endpointslices)
    slices.addIndex(BY_SERVICE, ({ metadata }) => {
      const service = metadata?.labels?.[SERVICE_NAME]
      return service === undefined ? [] : [`${metadata?.namespace}/${service}`]
    })
    this.#slices = slices.lister
  }
}
