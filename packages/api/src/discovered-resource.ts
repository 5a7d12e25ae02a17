/** One resource as an API server tells of it in aggregated discovery (docs/behaviour/api-server/requests.md). */
export interface DiscoveredResource {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** The plural in URLs. */
  readonly resource: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
  readonly subresources: readonly DiscoveredSubresource[]
}

export interface DiscoveredSubresource {
  readonly name: string
  readonly verbs: readonly string[]
  /** The kind of its bodies; may be of another group, as autoscaling/v1 Scale. */
  readonly kind: string
  readonly group: string
  readonly version: string
}
