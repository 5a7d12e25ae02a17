/**
 * Settings and fixed values of the mirroring controller.
 * Contract: docs/behaviour/controllers/endpointslice-mirroring-controller.md, Flags and timing.
 */
export interface EndpointSliceMirroringConfiguration {
  /** --mirroring-concurrent-service-endpoint-syncs */
  readonly concurrentServiceEndpointSyncs: number
  /** --mirroring-max-endpoints-per-subset: both families together. */
  readonly maxEndpointsPerSubset: number
  /** --mirroring-endpointslice-updates-batch-period */
  readonly endpointUpdatesBatchPeriodMs: number
}

export const defaultEndpointSliceMirroringConfiguration: EndpointSliceMirroringConfiguration = {
  concurrentServiceEndpointSyncs: 5,
  maxEndpointsPerSubset: 1_000,
  endpointUpdatesBatchPeriodMs: 0,
}

export const QUEUE_NAME = 'endpoint_slice_mirroring'
export const EVENT_COMPONENT = 'endpoint-slice-mirroring-controller'
export const SERVICE_ACCOUNT = 'endpointslicemirroring-controller'
/** The value of the managed-by label. */
export const MANAGER = 'endpointslicemirroring-controller.k8s.io'
export const MAX_RETRIES = 15
export const MIN_BACKOFF_MS = 1_000
export const MAX_BACKOFF_MS = 100_000

export const SKIP_MIRROR_LABEL = 'endpointslice.kubernetes.io/skip-mirror'
/** Annotations of Endpoints that mean nothing on a slice. */
export const UNMIRRORED_ANNOTATIONS: readonly string[] = [
  'endpoints.kubernetes.io/last-change-trigger-time',
  'kubectl.kubernetes.io/last-applied-configuration',
]
