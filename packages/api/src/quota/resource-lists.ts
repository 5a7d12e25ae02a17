/** Arithmetic on amounts by resource name. */
import type { Quantity } from '../generated/meta-v1.ts'
import type { ResourceList } from '../pods/pod-resources.ts'
import { compareQuantities, subtractQuantities } from '../values/quantity.ts'

/** `minuend - subtrahend` by name, never below zero. Names that only the subtrahend has are left out. */
export function excessOf(minuend: ResourceList, subtrahend: ResourceList): ResourceList {
  const excess: Record<string, Quantity> = {}
  for (const [name, value] of Object.entries(minuend)) {
    const less = subtrahend[name]
    if (less === undefined) excess[name] = value
    else if (compareQuantities(value, less) > 0) excess[name] = subtractQuantities(value, less)
  }
  return excess
}

/** By value: `1` equals `1000m`. Both must have the same names. */
export function sameResourceLists(
  one: ResourceList | undefined,
  other: ResourceList | undefined,
): boolean {
  const names = Object.keys(one ?? {})
  if (names.length !== Object.keys(other ?? {}).length) return false
  return names.every((name) => {
    const value = other?.[name]
    return value !== undefined && compareQuantities(one![name]!, value) === 0
  })
}

/** The part of these names, in their order. Names that the list lacks are left out. */
export function resourcesNamed(list: ResourceList, names: readonly string[]): ResourceList {
  const part: Record<string, Quantity> = {}
  for (const name of names) if (list[name] !== undefined) part[name] = list[name]
  return part
}
