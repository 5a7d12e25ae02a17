/**
 * Hints by the Service's own wish: `spec.trafficDistribution`.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync D.
 */
import { deepEqual } from '@gyropilot/api'
import type { Endpoint, EndpointHints } from '@gyropilot/api'
import { mapEndpoints, withHints } from './hinted-plan.ts'
import { isReady } from './hinted-plan.ts'
import type { SlicePlan } from './packing.ts'

const KNOWN_DISTRIBUTIONS = ['PreferClose', 'PreferSameZone', 'PreferSameNode'] as const
type KnownDistribution = (typeof KNOWN_DISTRIBUTIONS)[number]

export function isKnownDistribution(value: string | undefined): value is KnownDistribution {
  return KNOWN_DISTRIBUTIONS.some((known) => known === value)
}

/** Ready endpoints get the hints that the value asks for; any other value takes all hints away. */
export function withDistributionHints(
  plan: SlicePlan,
  distribution: string | undefined,
): SlicePlan {
  if (!isKnownDistribution(distribution)) return mapEndpoints(plan, (e) => withHints(e, undefined))
  return mapEndpoints(plan, (endpoint) => {
    if (!isReady(endpoint)) return endpoint
    const hints = hintsFor(endpoint, distribution)
    return deepEqual(endpoint.hints, hints) ? endpoint : withHints(endpoint, hints)
  })
}

function hintsFor(
  { zone, nodeName }: Endpoint,
  distribution: KnownDistribution,
): EndpointHints | undefined {
  const hints: EndpointHints = {
    ...(zone ? { forZones: [{ name: zone }] } : {}),
    ...(distribution === 'PreferSameNode' && nodeName ? { forNodes: [{ name: nodeName }] } : {}),
  }
  return Object.keys(hints).length === 0 ? undefined : hints
}
