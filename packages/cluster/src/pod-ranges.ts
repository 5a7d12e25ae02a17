/** Which addresses pods and Services have, and which nodes there are to have them. */
import { DEFAULT_SERVICE_RANGES } from '@gyropilot/api-server'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { isControllerEnabled, knownControllers } from '@gyropilot/manager/controller-names'
import type { SimulatedNodeConfiguration } from '@gyropilot/nodes'

/** What addresses a cluster has. Of `dual` IPv4 comes first. */
export type IpFamily = 'ipv4' | 'ipv6' | 'dual'

/** Of one family. Settled: data directories have nodes in them. */
interface Ranges {
  /** 8192 nodes and more with 256 addresses each, or a /64, beside the range of Services. */
  readonly pods: string
  readonly services: readonly string[]
  hostIp(index: number): string
  /** Away from where the controller begins. */
  podRange(index: number): string
}

const IPV4: Ranges = {
  pods: '10.224.0.0/11',
  services: DEFAULT_SERVICE_RANGES,
  hostIp: (index) => `192.168.${Math.floor((index + 10) / 250)}.${((index + 10) % 250) + 1}`,
  podRange: (index) => `10.${236 + Math.floor(index / 256)}.${index % 256}.0/24`,
}

const IPV6: Ranges = {
  pods: 'fd00:10:224::/48',
  services: ['fd00:10::/112'],
  hostIp: (index) => `fd00:192:168::${(index + 11).toString(16)}`,
  podRange: (index) => `fd00:10:224:${(0x8000 + index).toString(16)}::/64`,
}

const RANGES: Readonly<Record<IpFamily, readonly Ranges[]>> = {
  ipv4: [IPV4],
  ipv6: [IPV6],
  dual: [IPV4, IPV6],
}

/** Of all pods, as of --cluster-cidr. */
export function clusterCidr(family: IpFamily): string {
  return RANGES[family].map(({ pods }) => pods).join(',')
}

/** As of kube-apiserver's --service-cluster-ip-range, the first one first. */
export function serviceRanges(family: IpFamily): readonly string[] {
  return RANGES[family].flatMap(({ services }) => services)
}

/** What the node IPAM controller hands out. */
export function nodeIpam(family: IpFamily): ControllersConfiguration['nodeIpam'] {
  return {
    ...defaultControllersConfiguration.nodeIpam,
    allocateNodeCidrs: true,
    clusterCidr: clusterCidr(family),
    serviceClusterIpRange: serviceRanges(family).join(','),
  }
}

/** Whether managers with these items of --controllers give nodes their ranges. */
export function givesPodRanges(items: readonly string[]): boolean {
  const known = knownControllers.find(({ name }) => name === 'node-ipam-controller')
  return known !== undefined && isControllerEnabled(known, items)
}

/** `node-1`, `node-2`, ... with an address of each family, and pod ranges where no controller gives them any. */
export function simulatedNodes(
  count: number,
  {
    withPodRanges,
    family = 'ipv4',
    hasCloud = false,
  }: { readonly withPodRanges: boolean; readonly family?: IpFamily } & Pick<
    SimulatedNodeConfiguration,
    'hasCloud'
  >,
): readonly SimulatedNodeConfiguration[] {
  const ranges = RANGES[family]
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    hostIps: ranges.map(({ hostIp }) => hostIp(index)),
    ...(withPodRanges && { podCidrs: ranges.map(({ podRange }) => podRange(index)) }),
    ...(hasCloud && { hasCloud }),
  }))
}
