/** Labels by which EndpointSlices name their Service and their manager. */
import type { EndpointSlice } from '@gyropilot/api'
import type { IndexFunction } from '@gyropilot/runtime'

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'
export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by'
export const HEADLESS_LABEL = 'service.kubernetes.io/headless'

/** The Service that a slice names, as a key. */
export function serviceKeyOf({ metadata }: EndpointSlice): string | undefined {
  const name = metadata?.labels?.[SERVICE_NAME_LABEL]
  return name ? `${metadata?.namespace}/${name}` : undefined
}

export function isManagedBy({ metadata }: EndpointSlice, manager: string): boolean {
  return metadata?.labels?.[MANAGED_BY_LABEL] === manager
}

export const SLICES_BY_SERVICE = 'endpointslices-by-service'

export const sliceServiceIndex: IndexFunction<EndpointSlice> = (slice) => {
  const key = serviceKeyOf(slice)
  return key === undefined ? [] : [key]
}
