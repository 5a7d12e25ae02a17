/** Schemas as the reference server prints them: its internal type. */
import { passEmpties } from '@gyropilot/schema/given-value'
import { internalForm } from '@gyropilot/schema/internal-form'
import type { Draft } from '../../registry/kind-rules.ts'
import { isObject } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

export function internalSchema(schema: Schema): Draft {
  return internalForm(wrapped(schema), 'JSONSchemaProps')
}

export function internalItems(items: unknown): Draft {
  return internalForm({ items: wrappedItems(items) }, 'JSONSchemaProps')['Items'] as Draft
}

/** Inside, what is a schema or something else is a struct with a field for each. */
function wrapped(schema: Schema): Draft {
  const form: Draft = { ...schema }
  passEmpties(schema, form)
  for (const keyword of ['properties', 'patternProperties', 'definitions'] as const) {
    const map = schema[keyword]
    if (isObject(map))
      form[keyword] = Object.fromEntries(
        Object.entries(map).map(([name, part]) => [name, wrapped(part as Schema)]),
      )
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const)
    if (schema[keyword] !== undefined) form[keyword] = schema[keyword].map(wrapped)
  if (schema.not !== undefined) form['not'] = wrapped(schema.not)
  if (schema.items !== undefined) form['items'] = wrappedItems(schema.items)
  for (const keyword of ['additionalProperties', 'additionalItems'] as const)
    if (schema[keyword] !== undefined) form[keyword] = wrappedOrFlag(schema[keyword])
  return form
}

function wrappedItems(items: unknown): Draft {
  return Array.isArray(items)
    ? { schemas: items.map((item) => wrapped(item as Schema)) }
    : { schema: wrapped(items as Schema) }
}

function wrappedOrFlag(value: unknown): Draft {
  return typeof value === 'boolean'
    ? { allows: value }
    : { allows: true, schema: wrapped(value as Schema) }
}
