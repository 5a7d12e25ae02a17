/** Where machines are, and which clusters there are: the old parts of a provider. */

export interface Zone {
  /** Empty: not known. */
  readonly failureDomain: string
  /** Empty: not known. */
  readonly region: string
}

/** Where nodes are, for providers without InstancesV2. */
export interface Zones {
  /** Where this process runs. Asked by no controller. */
  getZone?(signal: AbortSignal): Promise<Zone>
  getZoneByProviderId(providerId: string, signal: AbortSignal): Promise<Zone>
  getZoneByNodeName(nodeName: string, signal: AbortSignal): Promise<Zone>
}

/** Asked by no controller. */
export interface Clusters {
  listClusters(signal: AbortSignal): Promise<readonly string[]>
  /** The address of the cluster's API server. */
  master(clusterName: string, signal: AbortSignal): Promise<string>
}
