/** Plans with other hints on their endpoints. */
import type { Endpoint, EndpointHints, EndpointSlice } from '@gyropilot/api'
import { endpointsOf } from './packing.ts'
import type { SlicePlan } from './packing.ts'

/** Traffic is only sent to these: others need no hints. */
export function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready === true
}

/** The same endpoint when it has none and should have none. */
export function withHints(endpoint: Endpoint, hints: EndpointHints | undefined): Endpoint {
  if (hints !== undefined) return { ...endpoint, hints }
  if (endpoint.hints === undefined) return endpoint
  const { hints: _, ...others } = endpoint
  return others
}

/** Unchanged slices of which an endpoint changes become updates. `change` returns the endpoint itself for no change. */
export function mapEndpoints(plan: SlicePlan, change: (endpoint: Endpoint) => Endpoint): SlicePlan {
  const mapped = (slice: EndpointSlice): EndpointSlice => {
    const before = endpointsOf(slice)
    const endpoints = before.map(change)
    return endpoints.every((endpoint, index) => endpoint === before[index])
      ? slice
      : { ...slice, endpoints }
  }
  const unchanged: EndpointSlice[] = []
  const moved: EndpointSlice[] = []
  for (const slice of plan.unchanged) {
    const next = mapped(slice)
    if (next === slice) unchanged.push(slice)
    else moved.push(next)
  }
  return {
    create: plan.create.map(mapped),
    update: [...plan.update.map(mapped), ...moved],
    remove: plan.remove,
    unchanged,
  }
}

export function withoutHints(plan: SlicePlan): SlicePlan {
  return mapEndpoints(plan, (endpoint) => withHints(endpoint, undefined))
}
