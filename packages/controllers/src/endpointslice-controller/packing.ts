/**
 * Packs the endpoints of one port group into slices, touching as few of the existing ones as it can.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync B.
 */
import type { Endpoint, EndpointSlice } from '@gyropilot/api'
import { byString } from '@gyropilot/foundation'
import { sameState } from '../endpoint-support/endpoint-set.ts'
import type { EndpointSet } from '../endpoint-support/endpoint-set.ts'

/** What becomes of the slices of a Service. Objects in `unchanged` and `remove` are those of the cache. */
export interface SlicePlan {
  readonly create: readonly EndpointSlice[]
  readonly update: readonly EndpointSlice[]
  readonly remove: readonly EndpointSlice[]
  readonly unchanged: readonly EndpointSlice[]
}

export interface PackedGroup extends SlicePlan {
  /** Endpoints that no slice had. */
  readonly added: number
  /** Endpoints that slices had and lose. */
  readonly removed: number
}

interface PackingOptions {
  readonly maxEndpointsPerSlice: number
  /** The labels a slice should have, undefined when it has them. */
  changedLabels(slice: EndpointSlice): Readonly<Record<string, string>> | undefined
  /** Labels for a slice that is written anyway. */
  readonly labels: Readonly<Record<string, string>>
  /** A slice with the ports of the group, without endpoints. */
  emptySlice(): EndpointSlice
}

/** A slice on its way: the object it comes from, and the endpoints it will have. */
interface Draft {
  readonly slice: EndpointSlice
  readonly endpoints: Endpoint[]
  readonly labels: Readonly<Record<string, string>> | undefined
}

interface Sorted {
  readonly updates: Draft[]
  readonly removals: EndpointSlice[]
  readonly unchanged: EndpointSlice[]
  readonly removed: number
}

/**
 * Never merges and never rebalances: slices are watched by every node, so that a write costs more
 * than a slice that is half empty. `desired` is left empty.
 */
export function packGroup(
  existing: readonly EndpointSlice[],
  desired: EndpointSet,
  options: PackingOptions,
): PackedGroup {
  const { maxEndpointsPerSlice: max } = options
  // 1.
  const { updates, removals, unchanged, removed } = sortExisting(existing, desired, options)
  const added = desired.size
  // 2.
  for (const draft of updates.toSorted(fullestFirst)) {
    draft.endpoints.push(...desired.takeFirst(max - draft.endpoints.length))
  }
  // 3.
  const creations: Draft[] = []
  while (desired.size > 0) {
    const target = desired.size < max ? sliceToFill(unchanged, desired.size, max) : undefined
    if (target === undefined) {
      const slice = options.emptySlice()
      creations.push({ slice, endpoints: [...desired.takeFirst(max)], labels: undefined })
    } else {
      unchanged.splice(unchanged.indexOf(target), 1)
      const endpoints = [...endpointsOf(target), ...desired.takeFirst(desired.size)]
      updates.push({ slice: target, endpoints, labels: undefined })
    }
  }
  return {
    create: creations.map(finished),
    update: updates.map(finished),
    remove: removals,
    unchanged,
    added,
    removed,
  }
}

/** Keeps in every slice what is still desired and takes it out of `desired`. */
function sortExisting(
  existing: readonly EndpointSlice[],
  desired: EndpointSet,
  options: PackingOptions,
): Sorted {
  const updates: Draft[] = []
  const removals: EndpointSlice[] = []
  const unchanged: EndpointSlice[] = []
  let removed = 0
  for (const slice of existing.toSorted(byName)) {
    const before = endpointsOf(slice)
    const kept: Endpoint[] = []
    let stateChanged = false
    for (const endpoint of before) {
      const wanted = desired.take(endpoint)
      if (wanted === undefined) continue
      kept.push(wanted)
      if (!sameState(wanted, endpoint)) stateChanged = true
    }
    const labels = options.changedLabels(slice)
    if (stateChanged || kept.length < before.length) {
      removed += before.length - kept.length
      if (kept.length === 0) removals.push(slice)
      else updates.push({ slice, endpoints: kept, labels: options.labels })
    } else if (labels !== undefined) {
      updates.push({ slice, endpoints: [...before], labels })
    } else {
      unchanged.push(slice)
    }
  }
  return { updates, removals, unchanged, removed }
}

const byName = byString((slice: EndpointSlice) => slice.metadata?.name ?? '')

function fullestFirst(a: Draft, b: Draft): number {
  return b.endpoints.length - a.endpoints.length || byName(a.slice, b.slice)
}

/** The slice that becomes fullest by `count` more endpoints without exceeding the maximum. */
function sliceToFill(
  slices: readonly EndpointSlice[],
  count: number,
  max: number,
): EndpointSlice | undefined {
  let fullest: EndpointSlice | undefined
  for (const slice of slices) {
    const size = endpointsOf(slice).length
    if (size + count > max) continue
    if (fullest === undefined || size > endpointsOf(fullest).length) fullest = slice
  }
  return fullest
}

function finished({ slice, endpoints, labels }: Draft): EndpointSlice {
  const metadata = labels === undefined ? slice.metadata : { ...slice.metadata, labels }
  return { ...slice, metadata, endpoints }
}

/** An empty list is null on its way from the server. */
export function endpointsOf(slice: EndpointSlice): readonly Endpoint[] {
  return slice.endpoints ?? []
}
