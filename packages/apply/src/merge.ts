/** Lays an applied configuration over an object. Contract: docs/behaviour/api-server/patch-and-apply.md, Merge rules by type. */
import { own, setOwn } from '@gyropilot/api'
import { elementOfItem } from './list-items.ts'
import { shapeFor } from './merge-type.ts'
import type { ListShape, MapShape, MergeType } from './merge-type.ts'

type Json = Record<string, unknown>

/**
 * The merged value; parts that the configuration leaves alone are shared with `live`. Undefined stands for an absent
 * value. A null in the configuration replaces scalars and atomic values; granular maps and lists survive it.
 */
export function merge(type: MergeType, live: unknown, configuration: unknown): unknown {
  if (configuration === undefined) return live
  if (live === undefined) return configuration
  const shapeLive = shapeFor(type, live)
  const shape = shapeFor(type, configuration)
  if (shapeLive !== shape && configuration !== null && live !== null) return configuration
  const merged = configuration === null ? shapeLive : shape
  if (merged.map !== undefined) {
    const left = asMap(live)
    const right = asMap(configuration)
    if (merged.map.atomic || (isEmptyMap(left) && isEmptyMap(right))) return configuration
    return mergeMaps(merged.map, left, right)
  }
  if (merged.list !== undefined && merged.scalar === undefined) {
    const left = Array.isArray(live) ? live : []
    const right = Array.isArray(configuration) ? configuration : []
    if (merged.list.ownership === 'atomic' || (left.length === 0 && right.length === 0))
      return configuration
    return mergeLists(merged.list, left, right)
  }
  return configuration
}

function mergeMaps(map: MapShape, live: Json | undefined, configuration: Json | undefined): Json {
  const merged: Json = { ...live }
  for (const name in configuration) {
    const type = map.fields.get(name)?.type ?? map.values
    if (type === undefined) continue
    const value = merge(type, live && own(live, name), configuration[name])
    if (value !== undefined) setOwn(merged, name, value)
  }
  return merged
}

/**
 * Applied items keep the order of the configuration. Items that only the object has stand where they stood, before the
 * next item that both have; new items come at their place in the configuration.
 */
function mergeLists(
  list: ListShape,
  live: readonly unknown[],
  configuration: readonly unknown[],
): unknown[] {
  const left = keyed(list, live)
  const right = keyed(list, configuration)
  const shared = right.elements.filter((element) => left.items.has(element))
  let nextShared = 0
  const merged: unknown[] = []
  const taken = new Set<string>()
  const takeApplied = (element: string): void => {
    taken.add(element)
    merged.push(merge(list.items, left.items.get(element), right.items.get(element)))
  }
  let l = 0
  let r = 0
  while (l < left.elements.length || r < right.elements.length) {
    const mine = left.elements[l]
    const theirs = right.elements[r]
    if (mine !== undefined && theirs !== undefined) {
      if (mine === theirs) {
        takeApplied(mine)
        l++
        r++
        nextShared++
        continue
      }
      if (right.items.has(mine) && nextShared < shared.length && shared[nextShared] !== mine) {
        // It comes later, at its place in the configuration.
        l++
        continue
      }
    }
    if (mine !== undefined) {
      if (!right.items.has(mine)) {
        // By position, because the object may hold several items under one key.
        merged.push(live[left.positions[l]!])
        l++
        continue
      }
      if (taken.has(mine)) l++
    }
    if (theirs !== undefined) {
      takeApplied(theirs)
      r++
      if (shared[nextShared] === theirs) nextShared++
    }
  }
  return merged
}

interface KeyedItems {
  readonly elements: readonly string[]
  /** For each element, where its item stands in the list. */
  readonly positions: readonly number[]
  /** Items under a key of their own; several under one key map to undefined. */
  readonly items: ReadonlyMap<string, unknown>
}

function keyed(list: ListShape, values: readonly unknown[]): KeyedItems {
  const elements: string[] = []
  const positions: number[] = []
  const items = new Map<string, unknown>()
  for (const [position, value] of values.entries()) {
    const element = elementOfItem(list, value)
    if (typeof element !== 'string') continue
    elements.push(element)
    positions.push(position)
    items.set(element, items.has(element) ? undefined : value)
  }
  return { elements, positions, items }
}

function asMap(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : undefined
}

function isEmptyMap(value: Json | undefined): boolean {
  for (const key in value) if (value[key] !== undefined) return false
  return true
}
