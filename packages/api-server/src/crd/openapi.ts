/** What /openapi/v3 says of a custom resource. Contract: docs/behaviour/api-server/custom-resources.md, OpenAPI. */
import { cloneJson } from '../registry/equality.ts'
import type { Stored } from '../registry/kind-rules.ts'
import type { JsonObject, Schema } from './schemas/structural-schema.ts'
import { isEmbedded, isIntOrString, isObject } from './schemas/structural-schema.ts'

const META = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1'

/** `com.example.spec-x.v1.Thing` */
export function openApiName(group: string, version: string, kind: string): string {
  return `${group.split('.').toReversed().join('.')}.${version}.${kind}`
}

/** The schemas of one served version of an established definition: the kind and its list, by name. */
export function openApiSchemas(
  definition: Stored,
  version: Stored,
): Readonly<Record<string, JsonObject>> {
  const { group } = definition['spec']
  const { kind, listKind = `${kind}List` } = definition['status'].acceptedNames
  const name = openApiName(group, version['name'], kind)
  const schema = cloneJson(version['schema']?.openAPIV3Schema ?? {}) as JsonObject
  complete(schema)
  schema['type'] ??= 'object'
  schema['properties'] = {
    ...typeProperties(),
    ...(schema['properties'] as JsonObject | undefined),
    ...typeProperties(),
  }
  schema['x-kubernetes-group-version-kind'] = [{ group, kind, version: version['name'] }]
  const list: JsonObject = {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      items: {
        type: 'array',
        items: { $ref: `#/components/schemas/${name}` },
      },
      metadata: { allOf: [{ $ref: `${META}.ListMeta` }] },
    },
    'x-kubernetes-group-version-kind': [{ group, kind: listKind, version: version['name'] }],
  }
  const selectable: readonly Stored[] = version['selectableFields'] ?? []
  if (selectable.length > 0) {
    const fields = selectable.map(({ jsonPath }) => ({ fieldPath: jsonPath.replace(/^\./, '') }))
    schema['x-kubernetes-selectable-fields'] = fields
    list['x-kubernetes-selectable-fields'] = fields
  }
  return { [name]: schema, [openApiName(group, version['name'], listKind)]: list }
}

function typeProperties(): JsonObject {
  return {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { allOf: [{ $ref: `${META}.ObjectMeta` }] },
  }
}

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }]

/**
 * Embedded resources say what they embed: they have the properties of a resource and require its type. What may be of two
 * types says which.
 */
function complete(node: JsonObject): void {
  for (const keyword of ['properties', 'items', 'additionalProperties'] as const) {
    const below = node[keyword]
    const nodes = keyword === 'properties' && isObject(below) ? Object.values(below) : [below]
    for (const child of nodes) {
      if (!isObject(child)) continue
      complete(child)
      if (isIntOrString(child as Schema) && !saysTypes(child)) child['anyOf'] = INT_OR_STRING
      if (isEmbedded(child as Schema)) completeEmbedded(child)
    }
  }
}

function completeEmbedded(resource: JsonObject): void {
  resource['properties'] = {
    ...(resource['properties'] as JsonObject | undefined),
    ...typeProperties(),
  }
  const required = (resource['required'] as readonly string[] | undefined) ?? []
  resource['required'] = [...new Set([...required, 'kind', 'apiVersion'])]
}

/** By itself or in the first of what it has to be besides. */
function saysTypes({ anyOf, allOf }: JsonObject): boolean {
  const [first] = (allOf ?? []) as readonly JsonObject[]
  return anyOf !== undefined || first?.['anyOf'] !== undefined
}
