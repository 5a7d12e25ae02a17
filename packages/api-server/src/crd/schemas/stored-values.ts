/**
 * What was stored at the place of a value, as far as the schema tells: what did not change is tolerated on an update.
 * Contract: docs/behaviour/api-server/custom-resources.md, Ratcheting.
 */
import { deepEqual } from '@gyropilot/api'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { ownValue } from '../../registry/equality.ts'
import { additionalOf, isObject, itemsOf, propertyOf } from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'

/** A stored value and the schema of its place. */
export interface StoredValue {
  readonly value: unknown
  readonly schema: Schema
}

export function storedAt(value: unknown, schema: Schema): StoredValue | undefined {
  return value === undefined ? undefined : { value, schema }
}

/** Undefined for fields that the schema does not have: of them nothing is known. */
export function storedField({ value, schema }: StoredValue, name: string): StoredValue | undefined {
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
  const additional = additionalOf(schema)
  const child = propertyOf(schema, name) ?? (additional === true ? undefined : additional)
  return child && storedAt(value[name], child)
}

/** Items of map lists are found by their keys, wherever they stand; items of other lists correspond to nothing. */
export function storedItems({
  value,
  schema,
}: StoredValue): ((item: unknown) => StoredValue | undefined) | undefined {
  const find = correlatedItems(schema, value)
  const items = itemsOf(schema)
  return find === undefined || items === undefined
    ? undefined
    : (item) => storedAt(find(item), items)
}

export function correlatedItems(
  schema: Schema,
  old: unknown,
): ((item: unknown) => unknown) | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const byKey = new Map<string, unknown>()
  for (const item of old) if (isObject(item)) byKey.set(listKey(item, keys), item)
  return (item) => (isObject(item) ? byKey.get(listKey(item, keys)) : undefined)
}

function listKey(item: JsonObject, keys: readonly string[]): string {
  return stringifyExact(keys.map((key) => ownValue(item, key) ?? null))
}

/**
 * Items of map lists may change their order. A map that holds a field without a schema is never taken for unchanged, nor
 * is what holds it.
 */
export function isUnchanged(value: unknown, before: StoredValue): boolean {
  const old = before.value
  if (Array.isArray(value)) {
    if (!Array.isArray(old) || old.length !== value.length) return false
    const stored = storedItems(before)
    if (stored === undefined) return deepEqual(value, old)
    return value.every((item) => {
      const counterpart = stored(item)
      return counterpart !== undefined && isUnchanged(item, counterpart)
    })
  }
  if (!isObject(value)) return deepEqual(value, old)
  const names = Object.keys(value)
  if (!isObject(old) || Object.keys(old).length !== names.length) return false
  return names.every((name) => {
    const counterpart = storedField(before, name)
    return counterpart !== undefined && isUnchanged(value[name], counterpart)
  })
}
