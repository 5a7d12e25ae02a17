/** How server-side apply sees a custom resource. Contract: docs/behaviour/api-server/patch-and-apply.md, Merge rules by type. */
import { UNTYPED_GRANULAR, UNTYPED_SCALAR, mapType, metadataMergeType } from '@gyropilot/apply'
import type { MapField, MergeType } from '@gyropilot/apply'
import {
  additionalOf,
  isEmbedded,
  isIntOrString,
  itemsOf,
  preservesUnknown,
  propertiesOf,
  propertyOf,
} from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

const STRING: MergeType = { scalar: 'string' }

export function mergeTypeOfResource(schema: Schema | undefined): MergeType {
  return structType(schema ?? { 'x-kubernetes-preserve-unknown-fields': true }, true, false)
}

/** `open`: something around it keeps unknown fields; then apply takes them here too, and leaves them to pruning. */
function mergeTypeOf(schema: Schema, open: boolean): MergeType {
  if (isIntOrString(schema)) return UNTYPED_GRANULAR
  switch (schema.type) {
    case 'string':
      // Of a format that means another type in Go, or may.
      return schema.format === undefined || schema.format === 'byte' ? STRING : UNTYPED_SCALAR
    case 'integer':
    case 'number':
      return { scalar: 'numeric' }
    case 'boolean':
      return { scalar: 'boolean' }
    case 'array':
      return listType(schema, open)
    case 'object':
      return structType(schema, isEmbedded(schema), open)
    default:
      // It may be anything; of a map the parts that are described keep their types.
      return { ...UNTYPED_GRANULAR, ...structType(schema, false, open) }
  }
}

function structType(schema: Schema, resource: boolean, around: boolean): MergeType {
  const open = around || preservesUnknown(schema)
  const atomic = schema['x-kubernetes-map-type'] === 'atomic'
  const additional = additionalOf(schema)
  const fields = new Map<string, MapField>()
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    fields.set(name, { element: `f:${name}`, type: mergeTypeOf(property, open) })
  }
  if (resource) {
    for (const name of ['apiVersion', 'kind'])
      fields.set(name, { element: `f:${name}`, type: STRING })
    fields.set('metadata', { element: 'f:metadata', type: metadataMergeType() })
  }
  if (additional !== undefined) {
    const values = additional === true ? UNTYPED_GRANULAR : mergeTypeOf(additional, open)
    return fields.size === 0 ? mapType(atomic, values) : { map: { atomic, fields, values } }
  }
  // An object without any properties is taken for one that may hold anything.
  const values = open || fields.size === 0 ? UNTYPED_GRANULAR : undefined
  return { map: { atomic, fields, values } }
}

function listType(schema: Schema, around: boolean): MergeType {
  const open = around || preservesUnknown(schema)
  const items = itemsOf(schema)
  const ownership = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const keyDefaults = new Map<string, unknown>()
  for (const key of keys) {
    const value = propertyOf(items, key)?.default
    if (value !== undefined) keyDefaults.set(key, value)
  }
  return {
    list: {
      ownership: ownership === 'set' || ownership === 'map' ? ownership : 'atomic',
      keys,
      keyDefaults,
      items: items === undefined ? UNTYPED_GRANULAR : mergeTypeOf(items, open),
    },
  }
}
