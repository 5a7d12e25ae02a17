/** Records of the cluster's DNS, as CoreDNS answers for Services and pods. Contract: docs/behaviour/simulation/kubelet.md, Network. */
import { resources } from '@gyropilot/api'
import type { EndpointSlice, Service } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { orMissing } from '../container/missing.ts'
import type { Lookup, NameRecord, RecordType } from '../shell/network.ts'
import { clusterName } from './cluster-names.ts'
import { addressOfReverseName } from '../shell/reverse-names.ts'
import { headlessAddresses, isReady } from './service-routes.ts'

const DOMAIN = 'svc.cluster.local'
const PORT_NAME = /^_([^.]+)\._(tcp|udp|sctp)\.(.+)$/

interface RecordSources {
  readonly client: Client
  /** The addresses of a full name. */
  resolve(fullName: string): Promise<Lookup>
  slicesOf(service: Service): Promise<readonly EndpointSlice[]>
}

/** Whether the cluster's DNS answers for that full name, and not somebody else's. */
export function isClusterRecord(fullName: string): boolean {
  return clusterName(fullName) !== undefined || addressOfReverseName(fullName) !== undefined
}

export class ClusterRecords {
  readonly #sources: RecordSources

  constructor(sources: RecordSources) {
    this.#sources = sources
  }

  /** None: it has none of that type, or nobody is called so. */
  async of(fullName: string, type: RecordType): Promise<readonly NameRecord[]> {
    const name = fullName.toLowerCase()
    if (type === 'SRV') return this.#ports(name)
    if (type === 'PTR') return this.#names(name)
    const alias = await this.#alias(name)
    if (alias !== undefined) return [{ name, type: 'CNAME', data: `${alias}.` }]
    if (type === 'CNAME') return []
    const found = await this.#sources.resolve(name)
    if (found.kind !== 'found') return []
    return found.addresses
      .filter((address) => address.includes(':') === (type === 'AAAA'))
      .map((data) => ({ name, type, data }))
  }

  async #alias(name: string): Promise<string | undefined> {
    const known = clusterName(name)
    if (known?.kind !== 'service' || known.host !== undefined) return undefined
    const { type, externalName } = (await this.#service(known))?.spec ?? {}
    return type === 'ExternalName' ? externalName : undefined
  }

  /** Of a named port: the Service, or its pods where it has no address of its own. */
  async #ports(name: string): Promise<readonly NameRecord[]> {
    const [, portName, protocol = '', serviceName = ''] = PORT_NAME.exec(name) ?? []
    const known = clusterName(serviceName)
    if (portName === undefined || known?.kind !== 'service') return []
    const service = await this.#service(known)
    const port = service?.spec?.ports?.find(
      (each) => each.name === portName && (each.protocol ?? 'TCP') === protocol.toUpperCase(),
    )
    if (service === undefined || port === undefined) return []
    if (service.spec?.clusterIP !== 'None')
      return [{ name, type: 'SRV', data: `0 100 ${port.port} ${serviceName}.` }]
    const slices = await this.#sources.slicesOf(service)
    const targets = slices.flatMap(({ ports = [], endpoints = [] }) => {
      const target = ports.find((each) => each.name === portName)?.port
      return endpoints
        .filter(isReady)
        .map((endpoint) => `${target} ${hostOf(endpoint)}.${serviceName}.`)
    })
    const weight = Math.floor(100 / Math.max(1, targets.length))
    return targets.toSorted().map((data) => ({ name, type: 'SRV', data: `0 ${weight} ${data}` }))
  }

  /** Who has an address: a Service, or pods behind headless ones. */
  async #names(name: string): Promise<readonly NameRecord[]> {
    const address = addressOfReverseName(name)
    if (address === undefined) return []
    const { items } = await this.#sources.client.resource(resources.services).list()
    const record = (data: string): NameRecord => ({ name, type: 'PTR', data })
    const own = items.find(({ spec }) => spec?.clusterIPs?.includes(address))
    if (own !== undefined) return [record(`${nameOf(own)}.`)]
    const found: NameRecord[] = []
    for (const service of items.filter(({ spec }) => spec?.clusterIP === 'None')) {
      const slices = await this.#sources.slicesOf(service)
      if (!headlessAddresses(service, slices, undefined).includes(address)) continue
      const endpoint = slices
        .flatMap(({ endpoints = [] }) => endpoints)
        .find(({ addresses }) => addresses.includes(address))
      if (endpoint !== undefined) found.push(record(`${hostOf(endpoint)}.${nameOf(service)}.`))
    }
    return found
  }

  async #service({
    namespace,
    service,
  }: {
    readonly namespace: string
    readonly service: string
  }): Promise<Service | undefined> {
    return orMissing(this.#sources.client.resource(resources.services, namespace).get(service))
  }
}

function nameOf({ metadata }: Service): string {
  return `${metadata?.name}.${metadata?.namespace}.${DOMAIN}`
}

/** Its own name, or one that its address makes. */
function hostOf({ hostname, addresses }: NonNullable<EndpointSlice['endpoints']>[number]): string {
  return hostname ?? (addresses[0] ?? '').replaceAll(/[.:]/g, '-')
}
