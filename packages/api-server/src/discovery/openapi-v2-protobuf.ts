/**
 * The definitions of the swagger 2.0 document as gnostic's `openapi.v2.Document`, in protocol buffers: what kubectl reads to
 * check manifests whose kind no path patches, above all `kind: List`. Paths are left out; kubectl takes them from version 3.
 */
import { stringifyExact } from '@gyropilot/schema/exact-json'

// Field numbers of openapi.v2 messages.
const DOCUMENT = { swagger: 1, info: 2, paths: 8, definitions: 9 }
const INFO = { title: 1, version: 2 }
const NAMED = { name: 1, value: 2 }
const ADDITIONAL_PROPERTIES = 1
const ANY_YAML = 2
const SCHEMA = {
  $ref: 1,
  format: 2,
  title: 3,
  description: 4,
  default: 5,
  required: 19,
  enum: 20,
  additionalProperties: 21,
  type: 22,
  items: 23,
  allOf: 24,
  properties: 25,
  extension: 31,
}
const LENGTH_DELIMITED = 2
const VARINT = 0

// oxlint-disable-next-line no-explicit-any -- schemas are walked as the JSON they are
type Schema = Readonly<Record<string, any>>

export interface Swagger {
  readonly swagger: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, object>>
  readonly definitions: Readonly<Record<string, Schema>>
}

export function encodeSwagger({ swagger, info, definitions }: Swagger): Uint8Array {
  return Buffer.concat([
    text(DOCUMENT.swagger, swagger),
    message(DOCUMENT.info, [text(INFO.title, info.title), text(INFO.version, info.version)]),
    message(DOCUMENT.paths, []),
    message(DOCUMENT.definitions, namedSchemas(definitions)),
  ])
}

function namedSchemas(schemas: Readonly<Record<string, Schema>>): Buffer[] {
  return Object.entries(schemas).map(([name, schema]) =>
    message(ADDITIONAL_PROPERTIES, [
      text(NAMED.name, name),
      message(NAMED.value, schemaParts(schema)),
    ]),
  )
}

/** Bounds and patterns are left out: nobody checks them on the client. */
function schemaParts(schema: Schema): Buffer[] {
  const parts: Buffer[] = []
  for (const field of ['$ref', 'format', 'title', 'description'] as const) {
    if (typeof schema[field] === 'string') parts.push(text(SCHEMA[field], schema[field]))
  }
  if (schema['default'] !== undefined) parts.push(any(SCHEMA.default, schema['default']))
  for (const name of (schema['required'] ?? []) as string[]) parts.push(text(SCHEMA.required, name))
  for (const value of (schema['enum'] ?? []) as unknown[]) parts.push(any(SCHEMA.enum, value))
  const additional: unknown = schema['additionalProperties']
  if (typeof additional === 'boolean') {
    parts.push(message(SCHEMA.additionalProperties, [varintField(2, additional ? 1 : 0)]))
  } else if (additional !== undefined) {
    const inner = message(1, schemaParts(additional as Schema))
    parts.push(message(SCHEMA.additionalProperties, [inner]))
  }
  if (schema['type'] !== undefined) {
    const types: string[] = [schema['type']].flat()
    parts.push(
      message(
        SCHEMA.type,
        types.map((type) => text(1, type)),
      ),
    )
  }
  if (schema['items'] !== undefined)
    parts.push(message(SCHEMA.items, [message(1, schemaParts(schema['items']))]))
  for (const part of (schema['allOf'] ?? []) as Schema[])
    parts.push(message(SCHEMA.allOf, schemaParts(part)))
  if (schema['properties'] !== undefined)
    parts.push(message(SCHEMA.properties, namedSchemas(schema['properties'])))
  for (const [name, value] of Object.entries(schema)) {
    if (!name.startsWith('x-')) continue
    parts.push(message(SCHEMA.extension, [text(NAMED.name, name), any(NAMED.value, value)]))
  }
  return parts
}

/** A value of any kind travels as YAML, of which JSON is a part. */
function any(field: number, value: unknown): Buffer {
  return message(field, [text(ANY_YAML, stringifyExact(value))])
}

function text(field: number, value: string): Buffer {
  return message(field, [Buffer.from(value)])
}

function message(field: number, parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((total, part) => total + part.length, 0)
  return Buffer.concat([varint(field * 8 + LENGTH_DELIMITED), varint(size), ...parts])
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8 + VARINT), varint(value)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return Buffer.from(bytes)
}
