/** A default must be known and valid under its own schema, as it is written. Contract: docs/behaviour/api-server/custom-resources.md, Defaulting. */
import { cloneJson } from '../../registry/equality.ts'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { coerceEmbedded, validateEmbeddedType } from './embedded.ts'
import { prune } from './prune.ts'
import {
  additionalOf,
  isEmbedded,
  isIntOrString,
  isObject,
  itemsOf,
  propertiesOf,
} from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'
import { validateValueAt } from './value-validation.ts'

/** Of a structural schema. */
export function checkDefaults(schema: Schema, path: string, errors: FieldErrors): void {
  checkNode(schema, path, true, errors)
}

/** Defaults below additionalProperties are not looked at, nor are lists for items that repeat. */
function checkNode(schema: Schema, path: string, isRoot: boolean, errors: FieldErrors): void {
  if (schema.default !== undefined)
    checkDefault(schema, `${path}.default`, isRoot || isEmbedded(schema), errors)
  const items = itemsOf(schema)
  if (items !== undefined) checkNode(items, `${path}.items`, false, errors)
  for (const [name, property] of Object.entries(propertiesOf(schema)))
    checkNode(property, `${path}.properties[${name}]`, false, errors)
}

function checkDefault(schema: Schema, at: string, isResource: boolean, errors: FieldErrors): void {
  const pruned = cloneJson(schema.default) as unknown
  const dropped =
    isResource && isObject(pruned) ? prune(pruned, schema) : pruneValue(pruned, schema)
  if (dropped.length > 0)
    errors.invalid(at, sortedJson(schema.default), 'must not have unknown fields')
  if (isResource && isObject(pruned)) {
    const before = errors.list.length
    coerceEmbedded(pruned, at, errors)
    if (errors.list.length === before) validateEmbeddedType(pruned, at, errors)
    if (errors.list.length > before) return
  }
  validateValueAt(at, schema.default, undefined, withoutIntOrString(schema), errors)
}

/** A default is no resource, so its apiVersion, kind and metadata are like any other field. */
function pruneValue(value: unknown, schema: Schema): readonly string[] {
  return prune({ value }, { properties: { value: schema } })
}

/** Defaults of int-or-string places may be of any type. */
function withoutIntOrString(schema: Schema): Schema {
  const items = itemsOf(schema)
  const additional = additionalOf(schema)
  const { 'x-kubernetes-int-or-string': _, ...rest } = schema
  return {
    ...(isIntOrString(schema) ? rest : schema),
    ...(items === undefined ? {} : { items: withoutIntOrString(items) }),
    ...(typeof additional === 'object'
      ? { additionalProperties: withoutIntOrString(additional) }
      : {}),
    ...(schema.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(schema.properties).map(([name, property]) => [
              name,
              withoutIntOrString(property),
            ]),
          ),
        }),
  }
}
