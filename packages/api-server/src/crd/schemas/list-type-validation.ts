/** Rules of x-kubernetes-list-type. Contract: docs/behaviour/api-server/custom-resources.md, Structural schema. */
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalItems } from './internal-schema.ts'
import { itemsOf, propertyOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

const LIST_TYPES = ['atomic', 'set', 'map']

export function checkListType(schema: Schema, path: string, errors: FieldErrors): void {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const at = `${path}.x-kubernetes-list-type`
  if (listType !== undefined) {
    if (schema.type !== 'array') {
      const message = 'must be array if x-kubernetes-list-type is specified'
      if (schema.type) errors.invalid(`${path}.type`, schema.type, message)
      else errors.required(`${path}.type`, message)
    }
    if (!LIST_TYPES.includes(listType)) errors.notSupported(at, listType, LIST_TYPES)
  }
  if (keys.length > 0 && listType !== 'map') {
    const message = 'must be map if x-kubernetes-list-map-keys is non-empty'
    if (listType === undefined) errors.required(at, message)
    else errors.invalid(at, listType, message)
  }
  if (listType === 'map') checkMap(schema, keys, path, errors)
  const items = itemsOf(schema)
  if (items !== undefined && (listType === 'map' || listType === 'set')) {
    if (items.nullable === true)
      errors.forbidden(
        `${path}.items.nullable`,
        `cannot be nullable when x-kubernetes-list-type is ${listType}`,
      )
    if (listType === 'map') checkKeyProperties(items, keys, `${path}.items`, errors)
    else checkSetItems(items, `${path}.items`, errors)
  }
}

function checkSetItems(items: Schema, path: string, errors: FieldErrors): void {
  const message = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = items['x-kubernetes-list-type']
  // The value shown is the list type, of an object too.
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    errors.invalid(`${path}.x-kubernetes-map-type`, listType ?? null, message)
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic')
    errors.invalid(`${path}.x-kubernetes-list-type`, listType, message)
}

function checkMap(
  schema: Schema,
  keys: readonly string[],
  path: string,
  errors: FieldErrors,
): void {
  const keysPath = `${path}.x-kubernetes-list-map-keys`
  if (keys.length === 0)
    errors.required(keysPath, 'must not be empty if x-kubernetes-list-type is map')
  const items = itemsOf(schema)
  if (items === undefined) {
    if (schema.items === undefined)
      errors.required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')
    else
      errors.invalid(
        `${path}.items`,
        internalItems(schema.items),
        'must only have a single schema if x-kubernetes-list-type is map',
      )
    return
  }
  if (items.type !== 'object') {
    errors.invalid(
      `${path}.items.type`,
      items.type ?? '',
      "must be object if parent array's x-kubernetes-list-type is map",
    )
    return
  }
  const seen = new Set<string>()
  for (const key of keys) {
    const property = propertyOf(items, key)
    if (property === undefined)
      errors.invalid(keysPath, keys, 'entries must all be names of item properties')
    else if (property.type === 'array' || property.type === 'object')
      // The type shown is that of the items.
      errors.invalid(
        `${path}.items.properties[${key}].type`,
        items.type,
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      )
    if (seen.has(key)) errors.invalid(keysPath, keys, 'must not contain duplicate entries')
    seen.add(key)
  }
}

function checkKeyProperties(
  items: Schema,
  keys: readonly string[],
  path: string,
  errors: FieldErrors,
): void {
  for (const key of keys) {
    const property = propertyOf(items, key)
    if (property === undefined) continue
    const at = `${path}.properties[${key}]`
    if (property.default === undefined && !(items.required ?? []).includes(key))
      errors.required(
        `${at}.default`,
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      )
    if (property.nullable === true)
      errors.forbidden(
        `${at}.nullable`,
        'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
      )
  }
}
