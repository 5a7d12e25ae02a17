/** Takes paths out of an object: what an applier no longer sends. */
import { setOwn } from '@gyropilot/api'
import { isEmpty, isMember } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { elementOfItem } from './list-items.ts'
import { shapeFor } from './merge-type.ts'
import type { ListShape, MapShape, MergeType } from './merge-type.ts'

type Json = Record<string, unknown>

/**
 * The value without the paths of `fields`. A map that loses everything stays, empty; a list goes with its field, and stays empty where
 * it is the value of a key that no schema names.
 */
export function removeFields(type: MergeType, value: unknown, fields: FieldSet): unknown {
  if (isEmpty(fields) || value === null || value === undefined) return value
  const shape = shapeFor(type, value)
  if (shape.map !== undefined)
    return asMap(value) ? removeFromMap(shape.map, value as Json, fields) : null
  if (shape.list !== undefined && shape.scalar === undefined) {
    return Array.isArray(value) ? removeFromList(shape.list, value, fields) : null
  }
  return value
}

function removeFromMap(map: MapShape, value: Json, fields: FieldSet): Json | null {
  // Paths inside an atomic value date from a schema in which it was granular.
  if (map.atomic) return null
  const rest: Json = {}
  for (const name in value) {
    const field = map.fields.get(name)
    const below = fields[field?.element ?? `f:${name}`]
    const type = field?.type ?? map.values
    if (below === undefined) setOwn(rest, name, value[name])
    else if (!isMember(below)) {
      const left = type === undefined ? value[name] : removeFields(type, value[name], below)
      const isGone = field !== undefined && Array.isArray(left) && left.length === 0
      if (!isGone) setOwn(rest, name, left)
    }
  }
  return rest
}

function removeFromList(
  list: ListShape,
  items: readonly unknown[],
  fields: FieldSet,
): unknown[] | null {
  if (list.ownership === 'atomic') return null
  const rest: unknown[] = []
  for (const item of items) {
    const element = elementOfItem(list, item)
    const below = typeof element === 'string' ? fields[element] : undefined
    if (below === undefined) rest.push(item)
    else if (!isMember(below)) rest.push(removeFields(list.items, item, below))
  }
  return rest
}

function asMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The set with the fields of structs between its paths added, so that what holds something removed can be removed too. */
export function withStructFields(type: MergeType, fields: FieldSet): FieldSet {
  if (isEmpty(fields)) return fields
  const result: Record<string, FieldSet> = {}
  for (const element in fields) {
    const node = fields[element]!
    if (element === '.') {
      result[element] = node
      continue
    }
    const declared = element.startsWith('f:') ? type.map?.fields.get(element.slice(2)) : undefined
    const below = declared?.type ?? (element.startsWith('f:') ? type.map?.values : type.list?.items)
    const children = below === undefined ? node : withStructFields(below, node)
    result[element] = declared === undefined || isMember(node) ? children : { '.': {}, ...children }
  }
  return result
}
