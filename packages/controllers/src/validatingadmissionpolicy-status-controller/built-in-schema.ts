/**
 * The schemas of built-in kinds, in the form of the OpenAPI documents. Contract:
 * docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md, Sync, Object types, step 6.
 */
import type { JSONSchemaProps } from '@gyropilot/api'
import { schemaOf } from '@gyropilot/api/schema'
import type { FieldSchema, ObjectSchema } from '@gyropilot/api/schema'
import type { Kind } from './matched-kinds.ts'

const known = new Map<string, JSONSchemaProps | undefined>()

/** Undefined for kinds that are not built in. */
export function builtInSchema({ group, version, kind }: Kind): JSONSchemaProps | undefined {
  const key = `${group}/${version}/${kind}`
  if (!known.has(key)) {
    const schema = schemaOf(group, version, kind)
    known.set(key, schema && objectOf(schema, []))
  }
  return known.get(key)
}

/** Within itself a type is an object without fields. */
function objectOf(schema: ObjectSchema, around: readonly ObjectSchema[]): JSONSchemaProps {
  if (around.includes(schema)) return { type: 'object' }
  const inside = [...around, schema]
  const properties: Record<string, JSONSchemaProps> = {}
  for (const [name, field] of schema.properties) properties[name] = fieldOf(field, inside)
  return { type: 'object', properties }
}

/** Schemas without a type are left out of expressions: quantities and any JSON are. */
function fieldOf(field: FieldSchema, around: readonly ObjectSchema[]): JSONSchemaProps {
  switch (field.type) {
    case 'string':
    case 'boolean':
      return { type: field.type }
    case 'int32':
    case 'int64':
      return { type: 'integer' }
    case 'double':
      return { type: 'number' }
    case 'bytes':
      return { type: 'string', format: 'byte' }
    case 'time':
    case 'microtime':
      return { type: 'string', format: 'date-time' }
    case 'int-or-string':
      return { 'x-kubernetes-int-or-string': true }
    case 'fields-v1':
    case 'raw':
      return { type: 'object' }
    case 'object':
      return objectOf(field.schema!, around)
    case 'array':
      return { type: 'array', items: fieldOf(field.items!, around) }
    case 'map':
      return { type: 'object', additionalProperties: fieldOf(field.values!, around) }
    default:
      return {}
  }
}
