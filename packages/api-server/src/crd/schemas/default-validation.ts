/** A default must be known and valid under its own schema, as it is written. Contract: docs/behaviour/api-server/custom-resources.md, Defaulting. */
import { cloneJson } from '../../registry/equality.ts'
import { DecodeError, decodePart } from '@gyropilot/schema'
import { sortedMap } from '@gyropilot/schema/internal-form'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { prune } from './prune.ts'
import {
  additionalOf,
  isEmbedded,
  isIntOrString,
  isObject,
  itemsOf,
  propertiesOf,
} from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'
import { validateListTypes, validateValue } from './value-validation.ts'

/** Of a structural schema. */
export function checkDefaults(schema: Schema, path: string, errors: FieldErrors): void {
  checkNode(schema, path, true, errors)
}

function checkNode(schema: Schema, path: string, isRoot: boolean, errors: FieldErrors): void {
  if (schema.default !== undefined)
    checkDefault(schema, `${path}.default`, isRoot || isEmbedded(schema), errors)
  const items = itemsOf(schema)
  if (items !== undefined) checkNode(items, `${path}.items`, false, errors)
  for (const [name, property] of Object.entries(propertiesOf(schema)))
    checkNode(property, `${path}.properties[${name}]`, false, errors)
  const additional = additionalOf(schema)
  if (additional !== undefined && additional !== true)
    checkNode(additional, `${path}.additionalProperties`, false, errors)
}

function checkDefault(schema: Schema, at: string, isResource: boolean, errors: FieldErrors): void {
  const pruned = cloneJson(schema.default) as unknown
  if (isObject(pruned)) {
    const dropped = isResource ? prune(pruned, schema) : pruneValue(pruned, schema)
    if (dropped.length > 0) {
      errors.invalid(at, schema.default, 'must not have unknown fields')
      return
    }
  }
  const before = errors.list.length
  if (isResource && isObject(pruned)) checkTypeAndMetadata(pruned, at, errors)
  if (errors.list.length > before) return
  const own = new FieldErrors()
  const plain = withoutIntOrString(schema)
  validateValue(pruned, undefined, plain, '', own)
  validateListTypes(pruned, undefined, plain, '', own)
  for (const error of own.list) {
    const isAt = error.field === '' || error.field === '<nil>'
    const field = isAt
      ? at
      : error.field.startsWith('[')
        ? at + error.field
        : `${at}.${error.field}`
    errors.list.push({ ...error, field })
  }
}

/** A default is no resource, so its apiVersion, kind and metadata are like any other field. */
function pruneValue(value: JsonObject, schema: Schema): readonly string[] {
  return prune({ value }, { properties: { value: schema } })
}

function checkTypeAndMetadata(value: JsonObject, at: string, errors: FieldErrors): void {
  for (const name of ['apiVersion', 'kind']) {
    const given = value[name]
    if (given === undefined) errors.required(`${at}.${name}`)
    else if (typeof given !== 'string') errors.invalid(`${at}.${name}`, given, 'must be a string')
  }
  const { metadata } = value
  if (metadata === undefined) return
  try {
    decodePart('meta-v1.ObjectMeta', metadata)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    errors.invalid(`${at}.metadata`, sortedMap(metadata), error.message)
  }
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
