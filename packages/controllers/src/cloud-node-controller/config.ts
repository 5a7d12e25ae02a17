/** Names and settings. Contract: docs/behaviour/controllers/cloud-node-controller.md. */

export interface CloudNodeConfiguration {
  /** Nodes initialised at the same time: --concurrent-node-syncs. */
  readonly concurrentNodeSyncs: number
  /** Nodes whose addresses are looked up at the same time: --concurrent-node-status-updates. 0: as many as are initialised. */
  readonly concurrentNodeStatusUpdates: number
  /** From the end of one look at all addresses to the next: --node-status-update-frequency. */
  readonly nodeStatusUpdateFrequencyMs: number
}

export const defaultCloudNodeConfiguration: CloudNodeConfiguration = {
  concurrentNodeSyncs: 1,
  concurrentNodeStatusUpdates: 0,
  nodeStatusUpdateFrequencyMs: 300_000,
}

export const SERVICE_ACCOUNT = 'node-controller'
export const EVENT_COMPONENT = 'cloud-node-controller'
export const QUEUE_NAME = 'Nodes'
/** The `name` of `running_managed_controllers`. */
export const RUNNING_NAME = 'cloud-node'

/** A node that no cloud has looked at yet; of any effect. */
export const UNINITIALIZED_TAINT = 'node.cloudprovider.kubernetes.io/uninitialized'
/** The addresses that the kubelet was started with: one, or one of each family. */
export const PROVIDED_IP = 'alpha.kubernetes.io/provided-node-ip'

export const TYPE_LABEL = 'node.kubernetes.io/instance-type'
export const BETA_TYPE_LABEL = 'beta.kubernetes.io/instance-type'
export const ZONE_LABEL = 'topology.kubernetes.io/zone'
export const BETA_ZONE_LABEL = 'failure-domain.beta.kubernetes.io/zone'
export const REGION_LABEL = 'topology.kubernetes.io/region'
export const BETA_REGION_LABEL = 'failure-domain.beta.kubernetes.io/region'
