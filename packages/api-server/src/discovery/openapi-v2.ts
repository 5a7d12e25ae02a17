/** The swagger 2.0 form of the OpenAPI documents, for clients that know no other. */

import type { Swagger } from './openapi-v2-protobuf.ts'

export interface OpenApiV3 {
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

type PathItem = Readonly<Record<string, Operation | readonly Parameter[]>>

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: object
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: object }>>
    readonly required?: boolean
  }
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>
  >
  readonly [field: string]: unknown
}

export function swaggerOf(documents: readonly OpenApiV3[]): Swagger {
  const paths: Record<string, object> = {}
  const definitions: Record<string, object> = {}
  for (const document of documents) {
    for (const [path, item] of Object.entries(document.paths)) paths[path] = pathItem(item)
    for (const [name, schema] of Object.entries(document.components.schemas))
      definitions[name] = schemaOf(schema) as object
  }
  const document = {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths,
    definitions,
    securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    security: [{ BearerToken: [] }],
  }
  return document
}

function pathItem(item: PathItem): object {
  return Object.fromEntries(
    Object.entries(item).map(([method, value]) => [
      method,
      method === 'parameters'
        ? (value as readonly Parameter[]).map(parameter)
        : operation(value as Operation),
    ]),
  )
}

function parameter({ name, in: place, required, schema }: Parameter): object {
  return { ...schema, name, in: place, ...(required === undefined ? {} : { required }) }
}

function operation({ parameters = [], requestBody, responses = {}, ...rest }: Operation): object {
  const body = requestBody === undefined ? [] : [bodyParameter(requestBody)]
  return {
    ...rest,
    schemes: ['https'],
    consumes: requestBody === undefined ? ['*/*'] : Object.keys(requestBody.content),
    produces: Object.keys(
      Object.values(responses).find(({ content }) => content !== undefined)?.content ?? {},
    ),
    parameters: [...body, ...parameters.map(parameter)],
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, { content }]) => [code, response(content)]),
    ),
  }
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
  content: Readonly<Record<string, { readonly schema?: object }>> | undefined,
): object {
  const schema = content === undefined ? undefined : Object.values(content)[0]?.schema
  return { description: '', ...(schema === undefined ? {} : { schema: schemaOf(schema) }) }
}

/** References move; `allOf` with one member, there to carry a default, becomes the member. */
function schemaOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(schemaOf)
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = {}
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref')
      result[key] = String(child).replace('#/components/schemas/', '#/definitions/')
    else if (key === 'allOf' && Array.isArray(child) && child.length === 1)
      Object.assign(result, schemaOf(child[0]))
    else if (key !== 'oneOf' && key !== 'nullable') result[key] = schemaOf(child)
  }
  return result
}
