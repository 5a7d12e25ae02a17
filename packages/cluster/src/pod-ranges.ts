/** Which addresses pods have, and which nodes there are to have them. */
import { DEFAULT_SERVICE_RANGES } from '@gyropilot/api-server'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { isControllerEnabled, knownControllers } from '@gyropilot/manager/controller-names'
import type { SimulatedNodeConfiguration } from '@gyropilot/nodes'

/** Of all pods: 8192 nodes with 256 addresses each, beside the range of services. Settled: data directories have nodes in it. */
export const CLUSTER_CIDR = '10.224.0.0/11'

/** What the node IPAM controller hands out here. */
export const nodeIpamHere: ControllersConfiguration['nodeIpam'] = {
  ...defaultControllersConfiguration.nodeIpam,
  allocateNodeCidrs: true,
  clusterCidr: CLUSTER_CIDR,
  serviceClusterIpRange: DEFAULT_SERVICE_RANGES.join(','),
}

/** Whether managers with these items of --controllers give nodes their ranges. */
export function givesPodRanges(items: readonly string[]): boolean {
  const known = knownControllers.find(({ name }) => name === 'node-ipam-controller')
  return known !== undefined && isControllerEnabled(known, items)
}

/** `node-1`, `node-2`, ... with an address each, and a pod range where no controller gives them one. */
export function simulatedNodes(
  count: number,
  {
    withPodRanges,
    hasCloud = false,
  }: { readonly withPodRanges: boolean } & Pick<SimulatedNodeConfiguration, 'hasCloud'>,
): readonly SimulatedNodeConfiguration[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    hostIp: `192.168.${Math.floor((index + 10) / 250)}.${((index + 10) % 250) + 1}`,
    ...(withPodRanges && { podCidr: podRange(index) }),
    ...(hasCloud && { hasCloud }),
  }))
}

/** From 10.236.0.0/24 on to the end of the cluster's range: away from where the controller begins. */
function podRange(index: number): string {
  return `10.${236 + Math.floor(index / 256)}.${index % 256}.0/24`
}
