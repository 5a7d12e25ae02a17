/** A swagger 2.0 document in the words of OpenAPI 3, for servers that tell no other. */

// oxlint-disable-next-line no-explicit-any -- documents are walked as the JSON they are
type Json = any
type Named = Readonly<Record<string, Json>>

export function openApiOf({ info, paths = {}, definitions = {} }: Named): object {
  return {
    openapi: '3.0.0',
    info,
    paths: mapped(paths, pathItem),
    components: { schemas: mapped(definitions, schemaOf) },
  }
}

function mapped(values: Named, change: (value: Json) => unknown): Named {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]))
}

function pathItem(item: Named): object {
  return Object.fromEntries(
    Object.entries(item).map(([method, value]) => [
      method,
      method === 'parameters' ? value.map(parameter) : operation(value),
    ]),
  )
}

function operation({
  consumes = [],
  produces = [],
  parameters = [],
  responses,
  ...rest
}: Named): object {
  const body = parameters.find((one: Json) => one.in === 'body')
  const others = parameters.filter((one: Json) => one.in !== 'body')
  const { schemes: _, ...kept } = rest
  return {
    ...kept,
    ...(others.length === 0 ? {} : { parameters: others.map(parameter) }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, consumes) }),
    responses: mapped(responses ?? {}, ({ schema, ...response }) => ({
      ...response,
      ...(schema === undefined || produces.length === 0 ? {} : content(schema, produces)),
    })),
  }
}

function requestBody({ schema, description, required }: Named, types: readonly string[]): object {
  return {
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
    ...(schema === undefined ? {} : content(schema, types)),
  }
}

function content(schema: Json, types: readonly string[]): object {
  return { content: Object.fromEntries(types.map((type) => [type, { schema: schemaOf(schema) }])) }
}

function parameter({ name, in: place, description, required, ...schema }: Named): object {
  return {
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
    schema,
  }
}

/** Beside a reference nothing else may stand. Fields may be called like words of the language. */
function schemaOf(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(schemaOf)
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...rest } = schema as Named
  const result: Record<string, Json> = {}
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'properties') result[key] = mapped(value, schemaOf)
    else if (key === 'items' || key === 'additionalProperties' || key === 'allOf')
      result[key] = schemaOf(value)
    else result[key] = value
  }
  if (typeof $ref !== 'string') return result
  const moved = { $ref: $ref.replace('#/definitions/', '#/components/schemas/') }
  return Object.keys(result).length === 0 ? moved : { ...result, allOf: [moved] }
}
