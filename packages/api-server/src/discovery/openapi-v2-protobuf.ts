/**
 * The swagger 2.0 document as gnostic's `openapi.v2.Document`, in protocol buffers: what kubectl reads to check manifests whose kind
 * no path patches, above all `kind: List`, and where kubectl and Helm of before 1.27 look which kinds' patches take `dryRun`.
 */
import { stringifyExact } from '@gyropilot/foundation/exact-json'

// Field numbers of openapi.v2 messages.
const DOCUMENT = { swagger: 1, info: 2, paths: 8, definitions: 9 }
const INFO = { title: 1, version: 2 }
const PATHS = { path: 2 }
const METHODS = { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 }
const PATH_ITEM = { parameters: 9, extension: 10 }
const OPERATION = {
  tags: 1,
  summary: 2,
  description: 3,
  operationId: 5,
  produces: 6,
  consumes: 7,
  parameters: 8,
  responses: 9,
  schemes: 10,
  extension: 13,
}
const PARAMETER = { given: 1, reference: 2, body: 1, other: 2 }
const BODY = { description: 1, name: 2, in: 3, required: 4, schema: 5 }
const QUERY = {
  place: 3,
  required: 1,
  in: 2,
  description: 3,
  name: 4,
  type: 6,
  format: 7,
  uniqueItems: 20,
}
const PATH = {
  place: 4,
  required: 1,
  in: 2,
  description: 3,
  name: 4,
  type: 5,
  format: 6,
  uniqueItems: 19,
}
const PLACES = { query: QUERY, path: PATH, header: { ...PATH, place: 1 } }
const RESPONSE = { code: 1, given: 1, description: 1, schema: 2 }
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

export function encodeSwagger({ swagger, info, paths, definitions }: Swagger): Uint8Array {
  return Buffer.concat([
    text(DOCUMENT.swagger, swagger),
    message(DOCUMENT.info, [text(INFO.title, info.title), text(INFO.version, info.version)]),
    message(DOCUMENT.paths, pathParts(paths)),
    message(DOCUMENT.definitions, namedSchemas(definitions)),
  ])
}

function pathParts(paths: Readonly<Record<string, object>>): Buffer[] {
  return Object.entries(paths).map(([path, item]) => {
    const parts: Buffer[] = []
    for (const [method, field] of Object.entries(METHODS)) {
      const operation = (item as Schema)[method]
      if (operation !== undefined) parts.push(message(field, operationParts(operation)))
    }
    parts.push(...parameters(PATH_ITEM.parameters, item), ...extensions(PATH_ITEM.extension, item))
    return message(PATHS.path, [text(NAMED.name, path), message(NAMED.value, parts)])
  })
}

function operationParts(operation: Schema): Buffer[] {
  const texts = ['tags', 'summary', 'description', 'operationId', 'produces', 'consumes', 'schemes']
  const parts: Buffer[] = []
  for (const field of texts as (keyof typeof OPERATION)[])
    for (const value of [operation[field] ?? []].flat()) parts.push(text(OPERATION[field], value))
  parts.push(...parameters(OPERATION.parameters, operation))
  const responses = Object.entries<Schema>(operation['responses'] ?? {}).map(([code, response]) => {
    const { schema } = response
    const given = [
      text(RESPONSE.description, response['description'] ?? ''),
      ...(schema === undefined
        ? []
        : [message(RESPONSE.schema, [message(1, schemaParts(schema))])]),
    ]
    const value = message(NAMED.value, [message(RESPONSE.given, given)])
    return message(RESPONSE.code, [text(NAMED.name, code), value])
  })
  parts.push(message(OPERATION.responses, responses))
  return [...parts, ...extensions(OPERATION.extension, operation)]
}

function parameters(field: number, { parameters: all = [] }: Schema): Buffer[] {
  return (all as Schema[]).map((parameter) => message(field, [parameterItem(parameter)]))
}

function parameterItem(parameter: Schema): Buffer {
  if (parameter['$ref'] !== undefined)
    return message(PARAMETER.reference, [text(1, parameter['$ref'])])
  if (parameter['in'] === 'body') {
    const schema = message(BODY.schema, schemaParts(parameter['schema'] ?? {}))
    return message(PARAMETER.given, [
      message(PARAMETER.body, [
        ...scalars(BODY, parameter, ['description', 'name', 'in', 'required']),
        schema,
      ]),
    ])
  }
  const fields = PLACES[parameter['in'] as keyof typeof PLACES] ?? QUERY
  const words = ['required', 'in', 'description', 'name', 'type', 'format', 'uniqueItems'] as const
  const parts = scalars(fields, parameter, words)
  return message(PARAMETER.given, [message(PARAMETER.other, [message(fields.place, parts)])])
}

function scalars<Word extends string>(
  fields: Readonly<Record<Word, number>>,
  from: Schema,
  words: readonly Word[],
): Buffer[] {
  return words.flatMap((word) => {
    const value: unknown = from[word]
    if (typeof value === 'string') return [text(fields[word], value)]
    return value === true ? [varintField(fields[word], 1)] : []
  })
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
  return [...parts, ...extensions(SCHEMA.extension, schema)]
}

function extensions(field: number, from: object): Buffer[] {
  return Object.entries(from)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, value]) => message(field, [text(NAMED.name, name), any(NAMED.value, value)]))
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
