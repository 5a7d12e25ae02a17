/**
 * Settings and fixed values of the Endpoints controller.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Flags and timing.
 */
export interface EndpointsConfiguration {
  /** --concurrent-endpoint-syncs */
  readonly concurrentEndpointSyncs: number
  /** --endpoint-updates-batch-period */
  readonly endpointUpdatesBatchPeriodMs: number
}

export const defaultEndpointsConfiguration: EndpointsConfiguration = {
  concurrentEndpointSyncs: 5,
  endpointUpdatesBatchPeriodMs: 0,
}

export const QUEUE_NAME = 'endpoint'
export const EVENT_COMPONENT = 'endpoint-controller'
export const SERVICE_ACCOUNT = 'endpoint-controller'
export const MAX_RETRIES = 15
/** Addresses of one Endpoints object, over all its subsets. */
export const MAX_ADDRESSES = 1_000

export const MANAGED_BY_LABEL = 'endpoints.kubernetes.io/managed-by'
/** The value of the managed-by label. */
export const MANAGER = 'endpoint-controller'
export const OVER_CAPACITY_ANNOTATION = 'endpoints.kubernetes.io/over-capacity'
/** The value of the annotation: addresses were left out. */
export const TRUNCATED = 'truncated'
