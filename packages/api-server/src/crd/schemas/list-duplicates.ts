/** What lists of type set and map hold twice. Contract: docs/behaviour/api-server/custom-resources.md, Value validation. */
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import { additionalOf, childPath, isObject, itemsOf, propertyOf } from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'

/** Lists of type set and map hold each item, or each key, once; what stands there more often is told once. An object that had any of that before may have more. */
export function validateListTypes(
  object: unknown,
  stored: unknown,
  schema: Schema,
  errors: FieldErrors,
): void {
  const found = new FieldErrors()
  visit(object, schema, '', found)
  if (found.list.length === 0) return
  const before = new FieldErrors()
  if (stored !== undefined) visit(stored, schema, '', before)
  if (before.list.length === 0) errors.list.push(...found.list)
}

function visit(value: unknown, schema: Schema, path: string, errors: FieldErrors): void {
  if (Array.isArray(value)) {
    reportDuplicates(value, schema, path, errors)
    const items = itemsOf(schema)
    if (items === undefined) return
    for (const [index, item] of value.entries()) visit(item, items, `${path}[${index}]`, errors)
  } else if (isObject(value)) {
    const additional = additionalOf(schema)
    for (const [name, member] of Object.entries(value)) {
      const property = propertyOf(schema, name)
      const child = property ?? (additional === true ? undefined : additional)
      // Keys of maps stand in brackets here.
      const at = property === undefined ? `${path}[${name}]` : childPath(path, name)
      if (child !== undefined) visit(member, child, at, errors)
    }
  }
}

function reportDuplicates(
  value: readonly unknown[],
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const listType = schema['x-kubernetes-list-type']
  if (listType !== 'set' && listType !== 'map') return
  if (listType === 'map') {
    const stranger = value.findIndex((item) => item !== null && !isObject(item))
    if (stranger >= 0) {
      const detail = 'must be an object for an array of list-type map'
      errors.invalid(`${path}[${stranger}]`, value[stranger], detail)
      return
    }
  }
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const identities = value.map((item) => sortedJson(listType === 'set' ? item : keysOf(item, keys)))
  const count = new Map<string, number>()
  for (const [index, identity] of identities.entries()) {
    const key = stringifyExact(identity)
    const times = (count.get(key) ?? 0) + 1
    count.set(key, times)
    if (times === 2) errors.duplicate(`${path}[${index}]`, identity)
  }
}

function keysOf(item: unknown, keys: readonly string[]): JsonObject {
  if (!isObject(item)) return {}
  return Object.fromEntries(
    keys.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]),
  )
}
