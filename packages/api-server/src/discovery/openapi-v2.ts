/** The swagger 2.0 form of the OpenAPI documents, for clients that know no other. */

import type { Swagger } from './openapi-v2-protobuf.ts'

export interface OpenApiV3 {
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: { readonly schemas?: Readonly<Record<string, object>> }
}

type PathItem = Readonly<Record<string, Operation | readonly Parameter[]>>

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: object
}

interface Response {
  readonly description?: string
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: object }>>
    readonly required?: boolean
  }
  readonly responses?: Readonly<Record<string, Response>>
  readonly [field: string]: unknown
}

export function swaggerOf(documents: readonly OpenApiV3[]): Swagger {
  const paths: Record<string, object> = {}
  const definitions: Record<string, Schema> = {}
  for (const document of documents) {
    for (const [path, item] of Object.entries(document.paths)) paths[path] = pathItem(path, item)
    for (const [name, schema] of Object.entries(document.components.schemas ?? {}))
      definitions[name] = withKindsOf(definitionOf(schema), definitions[name])
  }
  const BearerToken = {
    description: 'Bearer Token authentication',
    type: 'apiKey',
    name: 'authorization',
    in: 'header',
  }
  const document = {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths,
    definitions,
    securityDefinitions: { BearerToken },
    security: [{ BearerToken: [] }],
  }
  return document
}

const KINDS = 'x-kubernetes-group-version-kind'

/** Types that every group has, as DeleteOptions, say in each document only what they are called there. */
function withKindsOf(schema: Schema, other: Schema | undefined): Schema {
  if (other?.[KINDS] === undefined || schema[KINDS] === undefined) return schema
  const kinds = [...(other[KINDS] as object[]), ...(schema[KINDS] as object[])]
  const distinct = new Map(kinds.map((kind) => [JSON.stringify(kind), kind]))
  return { ...schema, [KINDS]: [...distinct.values()] }
}

function pathItem(path: string, item: PathItem): object {
  return Object.fromEntries(
    Object.entries(item).map(([method, value]) => [
      method,
      method === 'parameters'
        ? (value as readonly Parameter[]).map(parameter)
        : operation(path, value as Operation),
    ]),
  )
}

function parameter({ name, in: place, required, schema }: Parameter): object {
  return { ...schema, name, in: place, ...(required === undefined ? {} : { required }) }
}

const MEDIA_TYPES = [
  'text/plain',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
]

/** In the order in which kube-apiserver lists them. */
function mediaTypes(content: object | undefined): string[] {
  const rank = (type: string): number => {
    const place = MEDIA_TYPES.indexOf(type)
    return place < 0 ? MEDIA_TYPES.length : place
  }
  return Object.keys(content ?? {}).sort((a, b) => rank(a) - rank(b))
}

function operation(
  path: string,
  { parameters = [], requestBody, responses = {}, ...rest }: Operation,
): object {
  const body = requestBody === undefined ? [] : [bodyParameter(requestBody)]
  const all = [...body, ...parameters.map(parameter)]
  const answered = Object.values(responses).find(({ content }) => content !== undefined)?.content
  const produces = mediaTypes(answered)
  return {
    ...rest,
    schemes: ['https'],
    consumes: consumed(path, requestBody?.content, produces),
    produces,
    ...(all.length === 0 ? {} : { parameters: all }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, { description, content }]) => [
        code,
        response(description, content),
      ]),
    ),
  }
}

/** Types that are named; where none are, built-in kinds take anything, discovery and custom resources what they answer. */
function consumed(
  path: string,
  content: object | undefined,
  produces: readonly string[],
): readonly string[] {
  if (content !== undefined && !('*/*' in content)) return mediaTypes(content)
  const isCustom = produces.join() === 'application/json,application/yaml'
  return path.endsWith('/') || isCustom ? produces : ['*/*']
}

function bodyParameter({ content, required }: NonNullable<Operation['requestBody']>): object {
  return {
    name: 'body',
    in: 'body',
    ...(required === undefined ? {} : { required }),
    schema: schemaOf(Object.values(content)[0]?.schema ?? {}),
  }
}

function response(
  description: string | undefined,
  content: Readonly<Record<string, { readonly schema?: object }>> | undefined,
): object {
  const schema = content === undefined ? undefined : Object.values(content)[0]?.schema
  return {
    description: description ?? '',
    ...(schema === undefined ? {} : { schema: schemaOf(schema) }),
  }
}

type Schema = Readonly<Record<string, unknown>>

const SHAPE = new Set(['type', 'properties', 'items', 'additionalProperties', 'required'])
/** Version 2 has no words for them, or no client that would believe them. */
const DROPPED = new Set(['oneOf', 'anyOf', 'not', 'nullable', 'default'])

/** A kind that keeps unknown fields at its root is an object and no more: clients would refuse what they are not told of. */
function definitionOf(schema: object): Schema {
  const { 'x-kubernetes-group-version-kind': kinds, type, ...rest } = schema as Schema
  if (kinds !== undefined && rest['x-kubernetes-preserve-unknown-fields'] === true)
    return { type, 'x-kubernetes-group-version-kind': kinds }
  return schemaOf(schema)
}

/**
 * A schema in the words of version 2: references move; `allOf` with a reference, there to carry a default, becomes the
 * reference; what may be null or hold anything has no shape. Fields may be called like words of the language.
 */
function schemaOf(schema: object): Schema {
  const result: Record<string, unknown> = {}
  const { nullable, oneOf, type, ...given } = schema as Schema
  const shapeless = nullable === true || given['x-kubernetes-preserve-unknown-fields'] === true
  const shape = given['x-kubernetes-int-or-string'] === true ? undefined : type
  // Quantities and int-or-strings.
  if (shape === undefined && oneOf !== undefined && 'type' in (oneOf as object[])[0]!)
    result['type'] = 'string'
  else if (shape !== undefined && !shapeless) result['type'] = shape
  for (const [key, value] of Object.entries(given)) {
    if (DROPPED.has(key) || (shapeless && SHAPE.has(key))) continue
    if (key === '$ref')
      result[key] = String(value).replace('#/components/schemas/', '#/definitions/')
    else if (key === 'allOf') Object.assign(result, referenceOf(value as readonly object[]))
    else if (key === 'properties') result[key] = mapOf(value as Readonly<Record<string, object>>)
    else if (SHAPE.has(key) && typeof value === 'object' && !Array.isArray(value))
      result[key] = schemaOf(value as object)
    else result[key] = value
  }
  return result
}

function mapOf(schemas: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, schemaOf(value)]))
}

function referenceOf(parts: readonly object[]): Schema {
  const [only] = parts
  return only !== undefined && parts.length === 1 && '$ref' in only ? schemaOf(only) : {}
}
