/**
 * Settings and fixed values of the EndpointSlice controller.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Flags and timing.
 */
export interface EndpointSliceConfiguration {
  /** --concurrent-service-endpoint-syncs */
  readonly concurrentServiceEndpointSyncs: number
  /** --max-endpoints-per-slice */
  readonly maxEndpointsPerSlice: number
  /** --endpointslice-updates-batch-period */
  readonly endpointUpdatesBatchPeriodMs: number
}

export const defaultEndpointSliceConfiguration: EndpointSliceConfiguration = {
  concurrentServiceEndpointSyncs: 5,
  maxEndpointsPerSlice: 100,
  endpointUpdatesBatchPeriodMs: 0,
}

export const QUEUE_NAME = 'endpoint_slice'
export const EVENT_COMPONENT = 'endpoint-slice-controller'
export const SERVICE_ACCOUNT = 'endpointslice-controller'
/** The value of the managed-by label. */
export const MANAGER = 'endpointslice-controller.k8s.io'
export const MAX_RETRIES = 15
/** Failures are mostly a cache that is behind: less than a second rarely helps. */
export const MIN_BACKOFF_MS = 1_000
export const MAX_BACKOFF_MS = 1_000_000
/** Others' writes to slices are answered no sooner, lest two writers chase each other. */
export const MIN_SLICE_EVENT_DELAY_MS = 1_000
