/** Writes the schema that the API server and the patches walk at run time. Its types are in packages/api/src/schema.ts. */
import type { Definition, DiscoveredResource, OpenApiSchema } from './openapi.ts'
import { refName } from './openapi.ts'
import { sharedDefinitions } from './shared-definitions.ts'

type Definitions = ReadonlyMap<string, Definition>
type Namer = (definition: Definition) => string

/** Definitions that are a scalar, or free-form JSON, on the wire. */
const SCALARS: Readonly<Record<string, string>> = {
  Quantity: 'quantity',
  IntOrString: 'int-or-string',
  Time: 'time',
  MicroTime: 'microtime',
  FieldsV1: 'fields-v1',
  RawExtension: 'raw',
  Patch: 'raw',
  JSON: 'json',
  JSONSchemaPropsOrArray: 'json-schema-or-array',
  JSONSchemaPropsOrBool: 'json-schema-or-boolean',
  JSONSchemaPropsOrStringArray: 'json-schema-or-string-array',
}

export function writeRuntimeSchema(
  definitions: Definitions,
  onRequest: readonly DiscoveredResource[],
): string {
  const shared = sharedDefinitions(definitions, onRequest)
  const nameOf = (definition: Definition): string =>
    shortName(shared.get(definition.fullName) ?? definition)
  const kinds: Record<string, string> = {}
  const written: Record<string, unknown> = {}
  for (const definition of definitions.values()) {
    if (definition.schema.properties === undefined) continue
    const name = nameOf(definition)
    for (const { group, version, kind } of definition.kinds)
      kinds[`${group}/${version}/${kind}`] = name
    if (!shared.has(definition.fullName))
      written[name] = writeDefinition(definition.schema, definitions, nameOf)
  }
  const sorted = Object.fromEntries(Object.entries(kinds).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  // One definition a line: differences stay readable.
  const lines = Object.entries(written).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  )
  return `{"kinds":${JSON.stringify(sorted)},\n"definitions":{\n${lines.join(',\n')}\n}}\n`
}

function shortName(definition: Definition): string {
  return `${definition.module}.${definition.name}`
}

function writeDefinition(schema: OpenApiSchema, definitions: Definitions, nameOf: Namer): unknown {
  const properties: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema.properties!)) {
    properties[name] = writeField(value, definitions, nameOf)
  }
  return {
    properties,
    required: schema.required,
    mapType: schema['x-kubernetes-map-type'],
    unions: schema['x-kubernetes-unions'],
  }
}

function writeField(
  schema: OpenApiSchema,
  definitions: Definitions,
  nameOf: Namer,
): Record<string, unknown> {
  return {
    ...writeForm(schema, definitions, nameOf),
    default: schema.default,
    enum: schema.enum,
    listType: schema['x-kubernetes-list-type'],
    listMapKeys: schema['x-kubernetes-list-map-keys'],
    mapType: schema['x-kubernetes-map-type'],
    patchStrategy: schema['x-kubernetes-patch-strategy']?.split(','),
    patchMergeKey: schema['x-kubernetes-patch-merge-key'],
  }
}

function writeForm(
  schema: OpenApiSchema,
  definitions: Definitions,
  nameOf: Namer,
): Record<string, unknown> {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref
  if (ref !== undefined) {
    const target = definitions.get(refName(ref))!
    if (target.schema.properties !== undefined) return { type: 'object', ref: nameOf(target) }
    const scalar = SCALARS[target.name]
    if (scalar === undefined) throw new Error(`no form for ${target.fullName}`)
    return { type: scalar }
  }
  switch (schema.type) {
    case 'string':
      return { type: schema.format === 'byte' ? 'bytes' : 'string' }
    case 'integer':
      return { type: schema.format === 'int32' ? 'int32' : 'int64' }
    case 'number':
      return { type: 'double' }
    case 'boolean':
      return { type: 'boolean' }
    case 'array':
      return { type: 'array', items: writeField(schema.items!, definitions, nameOf) }
    case 'object':
      if (schema.additionalProperties === undefined) return { type: 'raw' }
      return { type: 'map', values: writeField(schema.additionalProperties, definitions, nameOf) }
    default:
      throw new Error(`no form for ${JSON.stringify(schema)}`)
  }
}
