/** Rules of x-kubernetes-list-type. Contract: docs/behaviour/api-server/custom-resources.md, Structural schema. */
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { isIntOrString, itemsOf, propertyOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

const SCALARS = ['boolean', 'integer', 'number', 'string']

export function checkListType(
  schema: Schema,
  listType: string,
  path: string,
  errors: FieldErrors,
): void {
  if (!['atomic', 'set', 'map'].includes(listType)) {
    errors.notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map'])
  }
  if (schema.type !== 'array')
    errors.invalid(
      `${path}.type`,
      schema.type ?? '',
      'must be array if x-kubernetes-list-type is specified',
    )
  const items = itemsOf(schema)
  if (items === undefined) {
    if (schema.items === undefined)
      errors.required(`${path}.items`, 'must be specified if x-kubernetes-list-type is specified')
    return
  }
  if (listType === 'set') checkSetItems(items, `${path}.items`, errors)
  if (listType === 'map') checkMapItems(schema, items, path, errors)
}

function checkSetItems(items: Schema, path: string, errors: FieldErrors): void {
  if (items.nullable === true)
    errors.forbidden(`${path}.nullable`, 'cannot be nullable when x-kubernetes-list-type is "set"')
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    errors.invalid(
      `${path}.x-kubernetes-map-type`,
      items['x-kubernetes-map-type'] ?? null,
      'must be atomic as item of a list with x-kubernetes-list-type=set',
    )
  }
  const itemListType = items['x-kubernetes-list-type']
  if (items.type === 'array' && itemListType !== undefined && itemListType !== 'atomic') {
    errors.invalid(
      `${path}.x-kubernetes-list-type`,
      itemListType,
      'must be atomic as item of a list with x-kubernetes-list-type=set',
    )
  }
}

function checkMapItems(schema: Schema, items: Schema, path: string, errors: FieldErrors): void {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const keysPath = `${path}.x-kubernetes-list-map-keys`
  if (items.nullable === true)
    errors.forbidden(
      `${path}.items.nullable`,
      'cannot be nullable when x-kubernetes-list-type is "map"',
    )
  if (items.type !== 'object') {
    errors.invalid(
      `${path}.items.type`,
      items.type ?? '',
      "must be object if parent array's x-kubernetes-list-type is map",
    )
  }
  if (keys.length === 0)
    errors.required(keysPath, 'must not be empty if x-kubernetes-list-type is map')
  const seen = new Set<string>()
  for (const [index, key] of keys.entries()) {
    if (seen.has(key)) errors.duplicate(`${keysPath}[${index}]`, key)
    seen.add(key)
    const property = propertyOf(items, key)
    if (property === undefined) {
      errors.invalid(`${keysPath}[${index}]`, key, 'entries must all be names of item properties')
      continue
    }
    if (!SCALARS.includes(property.type ?? '') && !isIntOrString(property)) {
      errors.invalid(
        `${path}.items.properties[${key}].type`,
        property.type ?? '',
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      )
    }
    if (property.nullable === true)
      errors.forbidden(
        `${path}.items.properties[${key}].nullable`,
        'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
      )
    if (property.default === undefined && !(items.required ?? []).includes(key)) {
      errors.required(
        `${path}.items.properties[${key}].default`,
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      )
    }
  }
}
