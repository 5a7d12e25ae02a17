/**
 * Schemas as types of expressions, with what the schema says of sizes. Contract: docs/behaviour/api-server/custom-resources.md,
 * CEL rules and Cost.
 */
import type { JSONSchemaProps } from '@gyropilot/api'
import { UNTYPED } from './types.ts'
import type { CelType, ObjectField } from './types.ts'

type Schema = JSONSchemaProps

export interface DeclaredType {
  readonly type: CelType
  /** Bytes of the shortest JSON text of a value. */
  readonly minBytes: number
}

/** No request is larger, so nothing in it is. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024
const QUOTES = 2
const LONGEST_TEXT = MAX_REQUEST_BYTES - QUOTES
const BYTES_PER_CHARACTER = 4

/** What the type of a rule's self is called; parts of it by their path: `selfType.list.@idx`. */
export const SELF_TYPE = 'selfType'

/** Undefined for what expressions cannot see: untyped parts of a schema. */
export function declaredType(
  schema: Schema,
  name: string,
  isResource: boolean,
): DeclaredType | undefined {
  if (isIntOrString(schema))
    return { type: { kind: 'dyn', isIntOrString: true, maxElements: LONGEST_TEXT }, minBytes: 1 }
  switch (schema.type) {
    case 'boolean':
      return { type: { kind: 'bool' }, minBytes: 4 }
    case 'integer':
      return { type: { kind: 'int' }, minBytes: 1 }
    case 'number':
      return { type: { kind: 'double' }, minBytes: 1 }
    case 'string':
      return textType(schema)
    case 'array':
      return listType(schema, name)
    case 'object':
      return objectType(schema, name, isResource || isEmbedded(schema))
    default:
      return undefined
  }
}

function textType(schema: Schema): DeclaredType {
  const bounded = schema.maxLength === undefined ? undefined : Math.max(schema.maxLength, 0)
  switch (schema.format) {
    case 'byte':
      return { type: { kind: 'bytes', maxElements: bounded ?? LONGEST_TEXT }, minBytes: QUOTES }
    case 'duration':
      return { type: { kind: 'duration', maxElements: 32 }, minBytes: 3 }
    case 'date':
      return { type: { kind: 'timestamp', maxElements: 12 }, minBytes: 12 }
    case 'date-time':
      return { type: { kind: 'timestamp', maxElements: 32 }, minBytes: 21 }
  }
  const maxElements = bounded === undefined ? longestChoice(schema) : bounded * BYTES_PER_CHARACTER
  return { type: { kind: 'string', maxElements }, minBytes: QUOTES }
}

function longestChoice({ enum: choices }: Schema): number {
  if (choices === undefined || choices.length === 0) return LONGEST_TEXT
  return Math.max(...choices.map((choice) => Buffer.byteLength(String(choice))))
}

function listType(schema: Schema, name: string): DeclaredType | undefined {
  const items = itemsOf(schema)
  const element = items && declaredType(items, `${name}.@idx`, false)
  if (element === undefined) return undefined
  const maxElements = schema.maxItems ?? Math.floor(LONGEST_TEXT / (element.minBytes + ','.length))
  const kind = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const type: CelType = { kind: 'list', element: element.type, maxElements, isOfSchema: true }
  if (kind === 'set') return { type: { ...type, semantics: { kind } }, minBytes: QUOTES }
  if (kind === 'map') return { type: { ...type, semantics: { kind, keys } }, minBytes: QUOTES }
  return { type, minBytes: QUOTES }
}

function objectType(schema: Schema, name: string, isResource: boolean): DeclaredType | undefined {
  const additional = additionalOf(schema)
  if (additional !== undefined && additional !== true && !isResource) {
    const value = declaredType(additional, `${name}.@elem`, false)
    if (value === undefined) return undefined
    const maxElements =
      schema.maxProperties ?? Math.floor(LONGEST_TEXT / (value.minBytes + '"":,'.length + 2))
    const key: CelType = { kind: 'string' }
    return {
      type: { kind: 'map', key, value: value.type, maxElements, isOfSchema: true },
      minBytes: QUOTES,
    }
  }
  const fields = new Map<string, ObjectField>()
  const unnamed = new Map<string, CelType>()
  let minBytes = '{}'.length
  const properties = isResource ? withObjectMeta(schema) : propertiesOf(schema)
  for (const [jsonName, property] of Object.entries(properties)) {
    const field = declaredType(property, `${name}.${jsonName}`, false)
    const identifier = escapedName(jsonName)
    if (field === undefined || identifier === undefined)
      unnamed.set(jsonName, field?.type ?? UNTYPED)
    if (field === undefined) continue
    if (identifier !== undefined) fields.set(identifier, { type: field.type, jsonName })
    // Reserved words need no escape after a dot.
    if (SELECTABLE_KEYWORDS.has(jsonName))
      fields.set(jsonName, { type: field.type, jsonName, isAlias: true })
    const required = schema.required?.includes(jsonName) === true && property.default === undefined
    if (required) minBytes += jsonName.length + field.minBytes + '"":,'.length
  }
  return { type: { kind: 'object', name, fields, unnamed }, minBytes }
}

const TEXT: Schema = { type: 'string' }
const METADATA: Schema = { type: 'object', properties: { name: TEXT, generateName: TEXT } }

/** Of the metadata of a resource only the names exist for rules, unless its schema has all three, and both names, itself. */
function withObjectMeta(schema: Schema): Readonly<Record<string, Schema>> {
  const properties = propertiesOf(schema)
  const { kind, apiVersion, metadata } = properties
  const { name, generateName } = metadata?.properties ?? {}
  const isComplete = [kind, apiVersion, name, generateName].every((text) => text?.type === 'string')
  return isComplete
    ? properties
    : { ...properties, kind: TEXT, apiVersion: TEXT, metadata: METADATA }
}

const LITERAL_KEYWORDS = ['true', 'false', 'null', 'in']
const SELECTABLE_KEYWORDS = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)
const KEYWORDS: ReadonlySet<string> = new Set([...LITERAL_KEYWORDS, ...SELECTABLE_KEYWORDS])
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** A property's name in expressions. Undefined: it has none. */
export function escapedName(name: string): string | undefined {
  if (KEYWORDS.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replaceAll(/__|[.\-/]/g, (text) => ESCAPES[text]!)
}

function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  return schema.properties ?? {}
}

/** The schema of the values of other keys; `true` when they may be anything. */
function additionalOf({ additionalProperties }: Schema): Schema | true | undefined {
  return additionalProperties === false ? undefined : additionalProperties
}

function itemsOf({ items }: Schema): Schema | undefined {
  return items === undefined || Array.isArray(items) ? undefined : (items as Schema)
}

function isEmbedded(schema: Schema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true
}

function isIntOrString(schema: Schema): boolean {
  return schema['x-kubernetes-int-or-string'] === true
}
