/**
 * Hints that spread endpoints over zones as CPU is spread.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync D.
 */
import type { Endpoint, EndpointSlice } from '@gyropilot/api'
import { endpointsOf } from './packing.ts'
import type { SlicePlan } from './packing.ts'
import { isReady, mapEndpoints, withHints } from './hinted-plan.ts'
import { allocations } from './zone-shares.ts'
import type { Allocation, HintsByZone, ZoneShares } from './zone-shares.ts'

const INSUFFICIENT_NODES =
  'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'
const INSUFFICIENT_ENDPOINTS = 'Insufficient number of endpoints'
const MINIMUMS_EXCEEDED =
  'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold'
const NO_ZONE = 'One or more endpoints do not have a zone specified'

/** Either a plan with hints, or why there can be none. */
type Hinted =
  | { readonly plan: SlicePlan; readonly hints: HintsByZone }
  | { readonly disabled: string }

type Allocations = ReadonlyMap<string, Allocation>

/**
 * Slices without a need for other hints stay as they are. The others first keep all traffic in its
 * zone; then zones with more endpoints than their share lend some to zones with fewer.
 */
export function withTopologyHints(plan: SlicePlan, shares: ZoneShares | undefined): Hinted {
  const ready = [...plan.create, ...plan.update, ...plan.unchanged]
    .flatMap(endpointsOf)
    .filter(isReady).length
  if (shares === undefined) return { disabled: INSUFFICIENT_NODES }
  const counts = `(${ready} endpoints, ${shares.size} zones)`
  if (ready < shares.size) return { disabled: `${INSUFFICIENT_ENDPOINTS} ${counts}` }
  const wanted = allocations(shares, ready)
  if (wanted === undefined) return { disabled: `${MINIMUMS_EXCEEDED} ${counts}` }

  const { kept, changed, hints } = keepGoodHints(plan.unchanged, wanted)
  const writable: SlicePlan = {
    ...plan,
    update: [...plan.update, ...changed],
    unchanged: [],
  }
  const toHint = [...writable.create, ...writable.update].flatMap(endpointsOf).filter(isReady)
  if (toHint.some(({ zone }) => !zone)) return { disabled: NO_ZONE }
  for (const { zone } of toHint) add(hints, zone!, 1)
  const moves = zoneMoves(wanted, hints)
  const hinted = mapEndpoints(writable, (endpoint) => {
    if (!isReady(endpoint)) return withHints(endpoint, undefined)
    const zone = takeMove(endpoint, moves, hints)
    return withHints(endpoint, { forZones: [{ name: zone }] })
  })
  return { plan: { ...hinted, unchanged: kept }, hints }
}

/** Slices whose every ready endpoint has a hint for a zone that still counts and has room for it. */
function keepGoodHints(
  slices: readonly EndpointSlice[],
  wanted: Allocations,
): {
  kept: readonly EndpointSlice[]
  changed: readonly EndpointSlice[]
  hints: Map<string, number>
} {
  const hints = new Map<string, number>()
  const kept: EndpointSlice[] = []
  const changed: EndpointSlice[] = []
  for (const slice of slices) {
    const ofSlice = hintsOf(slice, wanted)
    const fits =
      ofSlice !== undefined &&
      [...ofSlice].every(
        ([zone, count]) => count + (hints.get(zone) ?? 0) <= wanted.get(zone)!.maximum,
      )
    if (!fits) {
      changed.push(slice)
      continue
    }
    kept.push(slice)
    for (const [zone, count] of ofSlice) add(hints, zone, count)
  }
  return { kept, changed, hints }
}

/** Undefined: a ready endpoint has no hint, or one for an unknown zone. */
function hintsOf(slice: EndpointSlice, wanted: Allocations): HintsByZone | undefined {
  const hints = new Map<string, number>()
  for (const endpoint of endpointsOf(slice)) {
    if (!isReady(endpoint)) continue
    const zones = endpoint.hints?.forZones ?? []
    if (zones.length === 0 || zones.some(({ name }) => !wanted.has(name))) return undefined
    add(hints, zones[0]!.name, 1)
  }
  return hints
}

/** How many endpoints each zone gives away and takes in. */
interface ZoneMoves {
  readonly giving: Map<string, number>
  readonly receiving: Map<string, number>
}

function zoneMoves(wanted: Allocations, hints: HintsByZone): ZoneMoves {
  const surplus = new Map<string, number>()
  const deficit = new Map<string, number>()
  for (const [zone, { desired }] of wanted) {
    const difference = (hints.get(zone) ?? 0) - desired
    if (difference > 0) surplus.set(zone, difference)
    else if (difference < 0) deficit.set(zone, -difference)
  }
  const moves: ZoneMoves = { giving: new Map(), receiving: new Map() }
  for (;;) {
    const [giver, toGive] = largest(surplus)
    const [receiver, toReceive] = largest(deficit)
    if (toGive < 0.5 || toReceive < 0.5 || (toGive < 1 && toReceive < 1)) return moves
    surplus.set(giver, toGive - 1)
    deficit.set(receiver, toReceive - 1)
    add(moves.giving, giver, 1)
    add(moves.receiving, receiver, 1)
  }
}

function largest(zones: ReadonlyMap<string, number>): readonly [zone: string, by: number] {
  let most: readonly [string, number] = ['', 0]
  for (const zone of zones) if (zone[1] > most[1]) most = zone
  return most
}

/** The zone this endpoint serves; a move that it makes is taken off `moves` and noted in `hints`. */
function takeMove(
  { zone = '' }: Endpoint,
  { giving, receiving }: ZoneMoves,
  hints: Map<string, number>,
): string {
  const toGive = giving.get(zone) ?? 0
  const receiver = [...receiving].find(([, count]) => count > 0)?.[0]
  if (toGive === 0 || receiver === undefined) return zone
  giving.set(zone, toGive - 1)
  add(receiving, receiver, -1)
  add(hints, zone, -1)
  add(hints, receiver, 1)
  return receiver
}

function add(counts: Map<string, number>, zone: string, by: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + by)
}
