/** Machines of a cloud. */
import type { Node, NodeAddress } from '@gyropilot/api'

/** What a cloud knows of the machine behind a node. Empty or absent: not known. */
export interface InstanceMetadata {
  /** `<provider name>://<what the cloud calls it>`; never changes in the life of a node. */
  readonly providerId?: string
  readonly instanceType?: string
  /** In the order in which they are to stand in the status. None: the status keeps what it has. */
  readonly nodeAddresses?: readonly NodeAddress[]
  readonly zone?: string
  readonly region?: string
  /** Labels for the node. Keys in `kubernetes.io` and `k8s.io` and their sub-domains are dropped. */
  readonly additionalLabels?: Readonly<Record<string, string>>
}

/** Asked about Node objects, whose `spec.providerID` may still be empty. */
export interface InstancesV2 {
  /** A false answer deletes a node that is not ready. When in doubt, reject. */
  instanceExists(node: Node, signal: AbortSignal): Promise<boolean>
  /** Exists and is switched off. */
  instanceShutdown(node: Node, signal: AbortSignal): Promise<boolean>
  /** Undefined: this cloud does not answer for the node; it is left as it is. */
  instanceMetadata(node: Node, signal: AbortSignal): Promise<InstanceMetadata | undefined>
}

/**
 * Asked about names and provider IDs. Throw InstanceNotFound for what is not there, NotImplemented for what the cloud cannot
 * tell.
 */
export interface Instances {
  nodeAddresses(nodeName: string, signal: AbortSignal): Promise<readonly NodeAddress[]>
  nodeAddressesByProviderId(
    providerId: string,
    signal: AbortSignal,
  ): Promise<readonly NodeAddress[]>
  /** What the cloud calls the machine: a provider ID less its scheme. */
  instanceId(nodeName: string, signal: AbortSignal): Promise<string>
  instanceType(nodeName: string, signal: AbortSignal): Promise<string>
  instanceTypeByProviderId(providerId: string, signal: AbortSignal): Promise<string>
  instanceExistsByProviderId(providerId: string, signal: AbortSignal): Promise<boolean>
  instanceShutdownByProviderId(providerId: string, signal: AbortSignal): Promise<boolean>
  /** Asked by no controller. */
  addSshKeyToAllInstances?(user: string, key: string, signal: AbortSignal): Promise<void>
  /** Asked by no controller. */
  currentNodeName?(hostname: string, signal: AbortSignal): Promise<string>
}
