/**
 * Pools of which a node has devices, and none can be had at the moment. Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure.
 */
import type { Node, ResourceSlice } from '@gyropilot/api'
import { isUsableOn, poolsOf } from './device-pools.ts'

export interface ClosedPool {
  /** Driver and name, with a slash between. */
  readonly id: string
  /** Its driver is not done with its slices, or they contradict each other. */
  readonly state: 'being updated' | 'invalid'
}

const NONE: readonly ClosedPool[] = []

/** By node, in the order of the pools. */
export function closedPools(
  slices: readonly ResourceSlice[],
): (node: Node) => readonly ClosedPool[] {
  // As a rule there are none, and nodes are many.
  const suspicious = poolsOf(slices)
    .map((pool) => ({ ...pool, hasLostCounters: hasLostCounters(pool.newest) }))
    .filter(
      ({ newest, isWhole, hasLostCounters: hasLost }) =>
        !isWhole || hasLost || hasNamesakes(newest),
    )
  if (suspicious.length === 0) return () => NONE
  return (node) =>
    suspicious.flatMap(
      ({ id, newest, isWhole, hasLostCounters: hasLost }): readonly ClosedPool[] => {
        const here = newest.filter((slice) => concerns(slice, node))
        if (here.length === 0) return NONE
        if (!isWhole) return [{ id, state: 'being updated' }]
        // Devices of other nodes may have the same names.
        return hasLost || hasNamesakes(here) ? [{ id, state: 'invalid' }] : NONE
      },
    )
}

/** What the pool's hardware shares is of interest wherever its devices are. */
function concerns({ spec }: ResourceSlice, node: Node): boolean {
  if ((spec.sharedCounters ?? []).length > 0) return true
  const places = spec.perDeviceNodeSelection === true ? (spec.devices ?? []) : [spec]
  return places.some((place) => isUsableOn({ place }, node))
}

function hasNamesakes(slices: readonly ResourceSlice[]): boolean {
  return hasTwice(slices.flatMap(({ spec }) => (spec.devices ?? []).map(({ name }) => name)))
}

/** Two sets of one name, or devices that consume what no set has. */
function hasLostCounters(slices: readonly ResourceSlice[]): boolean {
  const sets = slices.flatMap(({ spec }) => spec.sharedCounters ?? [])
  if (hasTwice(sets.map(({ name }) => name))) return true
  const known = new Map(sets.map((set) => [set.name, set.counters]))
  const consumed = slices.flatMap(({ spec }) =>
    (spec.devices ?? []).flatMap(({ consumesCounters = [] }) => consumesCounters),
  )
  return consumed.some(({ counterSet, counters }) =>
    Object.keys(counters).some((name) => !Object.hasOwn(known.get(counterSet) ?? {}, name)),
  )
}

function hasTwice(names: readonly string[]): boolean {
  return new Set(names).size < names.length
}
