/** How an item of a list is named in paths: by its keys in a map list, by its value in a set. */
import { own } from '@gyropilot/api'
import { elementText, keyElement, valueElement } from './field-set.ts'
import type { ListShape } from './merge-type.ts'

/** The path element of an item, or why it has none. */
export function elementOfItem(
  list: ListShape,
  item: unknown,
): string | { readonly reason: string } {
  return list.ownership === 'map' ? elementByKeys(list, item) : elementByValue(item)
}

function elementByKeys(list: ListShape, item: unknown): string | { readonly reason: string } {
  if (item === null || item === undefined) {
    return { reason: 'associative list with keys may not have a null element' }
  }
  if (typeof item !== 'object' || Array.isArray(item)) {
    return { reason: 'associative list with keys may not have non-map elements' }
  }
  const record = item as Record<string, unknown>
  const fields: [string, unknown][] = []
  for (const key of list.keys) {
    const value = keyValue(list, record, key)
    if (value !== undefined) fields.push([key, value])
  }
  if (fields.length === 0) return withoutKeys(list.keys)
  if (list.keys.length > 1) return keyElement(fields)
  const [[key, value]] = fields as [[string, unknown]]
  return `k:{${JSON.stringify(key)}:${elementText(value)}}`
}

function keyValue(list: ListShape, item: Record<string, unknown>, key: string): unknown {
  const value = own(item, key)
  return value === undefined ? list.keyDefaults.get(key) : value
}

/** Some may be left out: they are no part of its path then. */
function withoutKeys(keys: readonly string[]): { readonly reason: string } {
  const shown = keys.map((key) => JSON.stringify(key)).join(' ')
  return {
    reason: `associative list with keys has an element that omits all key fields [${shown}] (and doesn't have default values for any key fields)`,
  }
}

function elementByValue(item: unknown): string | { readonly reason: string } {
  if (item === null || item === undefined) {
    return { reason: "associative list without keys has an element that's an explicit null" }
  }
  if (Array.isArray(item))
    return { reason: 'not supported: associative list with lists as elements' }
  if (typeof item === 'object')
    return { reason: "associative list without keys has an element that's a map type" }
  return valueElement(item)
}

/** Items with a path element, in order. Items without are left out, and told of. */
export function indexItems(
  list: ListShape,
  items: readonly unknown[],
  onNameless?: () => void,
): Map<string, unknown[]> {
  const index = new Map<string, unknown[]>()
  for (const item of items) {
    const element = elementOfItem(list, item)
    if (typeof element !== 'string') {
      onNameless?.()
      continue
    }
    const same = index.get(element)
    if (same === undefined) index.set(element, [item])
    else same.push(item)
  }
  return index
}
