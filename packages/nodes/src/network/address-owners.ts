/** Whose an address of the cluster is, asked of the API server. Contract: docs/behaviour/simulation/kubelet.md, Network. */
import { resources } from '@gyropilot/api'
import type { EndpointSlice, Pod, Service } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { addressesOf } from './network-policies.ts'

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'

export class AddressOwners {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async service(address: string): Promise<Service | undefined> {
    const services = this.#client.resource(resources.services)
    const { items } = await services.list({ fieldSelector: `spec.clusterIP=${address}` })
    if (items.length > 0 || !isIpv6(address)) return items[0]
    const all = await services.list()
    return all.items.find(({ spec }) => spec?.clusterIPs?.includes(address))
  }

  /** One that lives: an address is somebody else's when its pod has ended. */
  async pod(address: string): Promise<Pod | undefined> {
    const pods = this.#client.resource(resources.pods)
    const isHis = (pod: Pod): boolean =>
      addressesOf(pod).includes(address) &&
      pod.status?.phase === 'Running' &&
      !pod.spec?.hostNetwork
    const { items } = await pods.list({ fieldSelector: `status.podIP=${address}` })
    const found = items.find(isHis)
    return found !== undefined || !isIpv6(address) ? found : (await pods.list()).items.find(isHis)
  }

  /** All nodes are read. */
  async nodeName(address: string): Promise<string | undefined> {
    const { items } = await this.#client.resource(resources.nodes).list()
    const node = items.find(({ status }) =>
      status?.addresses?.some((each) => each.type === 'InternalIP' && each.address === address),
    )
    return node?.metadata?.name
  }

  async podsOn(nodeName: string): Promise<readonly Pod[]> {
    const fieldSelector = `spec.nodeName=${nodeName}`
    return (await this.#client.resource(resources.pods).list({ fieldSelector })).items
  }

  async slicesOf({ metadata }: Service): Promise<readonly EndpointSlice[]> {
    const labelSelector = `${SERVICE_NAME_LABEL}=${metadata?.name}`
    const { items } = await this.#client
      .resource(resources.endpointslices, metadata?.namespace)
      .list({ labelSelector })
    return items
  }
}

/** Fields select by the first address only; where there are two, the second is IPv6 here. */
export function isIpv6(address: string): boolean {
  return address.includes(':')
}

/** What the proxy of that address's family knows: connections stay in their family. */
export function ofFamily(
  slices: readonly EndpointSlice[],
  address: string,
): readonly EndpointSlice[] {
  const other = isIpv6(address) ? 'IPv4' : 'IPv6'
  return slices.filter(({ addressType }) => addressType !== other)
}
