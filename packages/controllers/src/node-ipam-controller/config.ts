/** Settings, names and numbers of the node IPAM controller. Contract: docs/behaviour/controllers/node-ipam-controller.md. */
export interface NodeIpamConfiguration {
  /** --allocate-node-cidrs: false leaves the controller nothing to do. */
  readonly allocateNodeCidrs: boolean
  /** --cluster-cidr: the range of all pods, or one of each family, with a comma between. */
  readonly clusterCidr: string
  /** --service-cluster-ip-range: what Services have, so that no node gets it; up to two, with a comma between. */
  readonly serviceClusterIpRange: string
  /** --node-cidr-mask-size: of clusters of one family; 0 is not set. */
  readonly nodeCidrMaskSize: number
  /** --node-cidr-mask-size-ipv4; 0 is not set. */
  readonly nodeCidrMaskSizeIpv4: number
  /** --node-cidr-mask-size-ipv6; 0 is not set. */
  readonly nodeCidrMaskSizeIpv6: number
}

export const defaultNodeIpamConfiguration: NodeIpamConfiguration = {
  allocateNodeCidrs: false,
  clusterCidr: '',
  serviceClusterIpRange: '',
  nodeCidrMaskSize: 0,
  nodeCidrMaskSizeIpv4: 0,
  nodeCidrMaskSizeIpv6: 0,
}

export const CONTROLLER_NAME = 'node-ipam-controller'
export const SERVICE_ACCOUNT = 'node-controller'
export const EVENT_COMPONENT = 'cidrAllocator'
export const QUEUE_NAME = 'cidrallocator_node'
/** The `name` and the `manager` of `running_managed_controllers`. */
export const RUNNING_NAME = 'nodeipam'
export const RUNNING_IN = 'kube-controller-manager'

export const WORKERS = 30
export const PATCH_TRIES = 3
export const LIST_PERIOD_MS = 10_000
export const LIST_PATIENCE_MS = 600_000
/** For families whose mask no flag sets. */
export const DEFAULT_MASK_BITS = { 4: 24, 6: 64 } as const
/** IPv6 ranges hold no more slots than two to the power of this. */
export const MOST_IPV6_SLOT_BITS = 16
