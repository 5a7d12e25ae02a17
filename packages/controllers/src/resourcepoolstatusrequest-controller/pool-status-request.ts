/** ResourcePoolStatusRequest. Alpha, and served only when asked for: not among the generated types. */
import type { KubernetesObject, ResourceType, StatusCondition } from '@gyropilot/api'

export interface ResourcePoolStatusRequest extends KubernetesObject {
  readonly spec?: {
    readonly driver?: string
    readonly poolName?: string
    readonly limit?: number
  }
  readonly status?: ResourcePoolStatus
}

export interface ResourcePoolStatus {
  readonly poolCount?: number
  readonly pools?: readonly PoolStatus[]
  readonly conditions?: readonly StatusCondition[]
}

/** Counts are absent where `validationError` is there. */
export interface PoolStatus {
  readonly driver: string
  readonly poolName: string
  readonly generation: number
  readonly nodeName?: string
  readonly resourceSliceCount?: number
  readonly totalDevices?: number
  readonly allocatedDevices?: number
  readonly availableDevices?: number
  readonly unavailableDevices?: number
  readonly validationError?: string
}

export const POOL_STATUS_REQUESTS: ResourceType<ResourcePoolStatusRequest> = {
  group: 'resource.k8s.io',
  version: 'v1alpha3',
  resource: 'resourcepoolstatusrequests',
  kind: 'ResourcePoolStatusRequest',
  namespaced: false,
}
