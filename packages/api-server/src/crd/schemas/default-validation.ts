/** A default must be known and valid under its own schema, as it is written. Contract: docs/behaviour/api-server/custom-resources.md, Defaulting. */
import { cloneJson } from '../../registry/equality.ts'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { allRulesOf } from '../rules.ts'
import { runRules } from '../run-rules.ts'
import { coerceEmbedded, validateEmbeddedResource, walkEmbedded } from './embedded.ts'
import { prune } from './prune.ts'
import {
  additionalOf,
  RESOURCE_META,
  isEmbedded,
  isIntOrString,
  isObject,
  itemsOf,
  propertiesOf,
} from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'
import { validateValueAt } from './value-validation.ts'

/** Of a structural schema. */
export function checkDefaults(schema: Schema, path: string, errors: FieldErrors): void {
  checkNode(schema, path, { isResource: true, around: undefined }, errors)
}

/** Puts a value where it stands in its resource. */
type Around = (value: unknown) => JsonObject

interface Place {
  readonly isResource: boolean
  /** Of the apiVersion, kind and metadata of a resource: what the resource is with such a value. */
  readonly around: Around | undefined
}

/** Defaults below additionalProperties are not looked at, nor are lists for items that repeat. */
function checkNode(schema: Schema, path: string, place: Place, errors: FieldErrors): void {
  const { isResource, around } = place
  if (schema.default !== undefined) checkDefault(schema, `${path}.default`, place, errors)
  const items = itemsOf(schema)
  if (items !== undefined)
    checkNode(
      items,
      `${path}.items`,
      { isResource: isEmbedded(items), around: around && ((value) => around([value])) },
      errors,
    )
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const outside =
      isResource && RESOURCE_META.includes(name)
        ? (value: object) => ({ apiVersion: 'validation/v1', kind: 'Validation', ...value })
        : around
    checkNode(
      property,
      `${path}.properties[${name}]`,
      {
        isResource: isEmbedded(property),
        around: outside && ((value) => outside({ [name]: value })),
      },
      errors,
    )
  }
}

/** What is wrong first is all that is told: of resources, of the values, of what rules say. */
function checkDefault(schema: Schema, at: string, place: Place, errors: FieldErrors): void {
  const { isResource, around } = place
  let value: unknown = schema.default
  const wrong = new FieldErrors()
  if (around === undefined) {
    const resource = isResource ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema
    value = checkedResources(value, resource, at, wrong)
    // What is left out is told of the value as it is then.
    if (!isPruned(schema.default, schema, isResource))
      errors.invalid(at, sortedJson(value), 'must not have unknown fields')
  } else checkAround(around(value), value, at, wrong)
  errors.list.push(...wrong.list)
  if (wrong.list.length > 0) return
  const before = errors.list.length
  validateValueAt(at, value, undefined, withoutIntOrString(schema), errors)
  if (errors.list.length === before) checkByRules(schema, value, at, isResource, errors)
}

function isPruned(value: unknown, schema: Schema, isResource: boolean): boolean {
  const pruned = cloneJson(value) as unknown
  const dropped =
    isResource && isObject(pruned) ? prune(pruned, schema) : pruneValue(pruned, schema)
  return dropped.length === 0
}

/** The value, with the metadata of the resources in it, be it one itself, as they are decoded until one of them cannot be. */
function checkedResources(
  value: unknown,
  schema: Schema,
  at: string,
  errors: FieldErrors,
): unknown {
  const decoded = cloneJson(value) as unknown
  walkEmbedded(decoded, schema, at, (embedded, path) => {
    if (errors.list.length === 0) coerceEmbedded(embedded, path, errors)
  })
  if (errors.list.length === 0)
    walkEmbedded(decoded, schema, at, (embedded, path) =>
      validateEmbeddedResource(embedded, path, errors),
    )
  return decoded
}

function checkAround(resource: JsonObject, value: unknown, at: string, errors: FieldErrors): void {
  const own = new FieldErrors()
  const decoded = cloneJson(resource) as JsonObject
  coerceEmbedded(decoded, '', own)
  if (own.list.length === 0) validateEmbeddedResource(decoded, '', own)
  if (own.list.length === 0) return
  const texts = own.list.map(({ field, message }) => `${field.replace(/^\./, '')}: ${message}`)
  const text = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
  errors.invalid(at, sortedJson(value), `must result in valid metadata: ${text}`)
}

/** Rules find that the value was this one before; those that all hold then are asked about a value that is new, too. */
function checkByRules(
  schema: Schema,
  value: unknown,
  at: string,
  isResource: boolean,
  errors: FieldErrors,
): void {
  const tree = allRulesOf(schema, isResource)
  if (tree === undefined) return
  const own = new FieldErrors()
  runRules(tree, value, value, { errors: own, tolerated: own })
  if (own.list.length === 0) runRules(tree, value, undefined, { errors: own, tolerated: own })
  for (const error of own.list) errors.list.push({ ...error, field: below(at, error.field) })
}

function below(at: string, field: string): string {
  if (field === '<nil>' || field === '') return at
  return field.startsWith('[') ? `${at}${field}` : `${at}.${field}`
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
