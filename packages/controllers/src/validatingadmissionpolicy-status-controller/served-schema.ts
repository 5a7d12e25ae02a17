/**
 * Schemas out of the server's OpenAPI v3 documents. Contract:
 * docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md, Sync, Object types, step 6.
 */
import type { JSONSchemaProps } from '@gyropilot/api'
import { getLivePath } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { Kind } from './matched-kinds.ts'

export interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> }
}

interface OpenApiSchema extends JSONSchemaProps {
  readonly 'x-kubernetes-group-version-kind'?: readonly Kind[]
}

/** The documents that one sync has read, by group and version. */
export type ReadDocuments = Map<string, OpenApiDocument | undefined>

/** Undefined where the server has no schema, or does not answer. */
export function* servedSchema(
  kind: Kind,
  documents: ReadDocuments,
): Reconcile<JSONSchemaProps | undefined> {
  const { group, version } = kind
  const name = group === '' ? `api/${version}` : `apis/${group}/${version}`
  if (!documents.has(name)) {
    // Without the hash that the index tells: an outdated one is answered with a redirection.
    const document = yield* getLivePath<OpenApiDocument>(`/openapi/v3/${name}`)
    documents.set(name, document.ok ? document.object : undefined)
  }
  return schemaIn(documents.get(name), kind)
}

/** The schema of a kind with everything it refers to put in its place. */
export function schemaIn(
  document: OpenApiDocument | undefined,
  { group, version, kind }: Kind,
): JSONSchemaProps | undefined {
  const schemas = document?.components?.schemas ?? {}
  const found = Object.values(schemas).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (of) => of.group === group && of.version === version && of.kind === kind,
    ),
  )
  return found && resolved(found, schemas, [])
}

type Schemas = Readonly<Record<string, OpenApiSchema>>

/** Within itself a schema is an object without fields. */
function resolved(
  schema: JSONSchemaProps,
  schemas: Schemas,
  around: readonly string[],
): JSONSchemaProps {
  const name = referenceOf(schema)
  if (name !== undefined) {
    if (around.includes(name)) return { type: 'object' }
    return resolved(schemas[name] ?? {}, schemas, [...around, name])
  }
  const inside = (part: JSONSchemaProps): JSONSchemaProps => resolved(part, schemas, around)
  const { properties, items, additionalProperties } = schema
  return {
    ...schema,
    ...((schema.format as string | undefined) === 'int-or-string' && {
      'x-kubernetes-int-or-string': true,
    }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([property, part]) => [property, inside(part)]),
      ),
    }),
    ...(items && !Array.isArray(items) && { items: inside(items as JSONSchemaProps) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: inside(additionalProperties),
    }),
  }
}

/** A reference with a description or a default of its own stands in an `allOf`. */
function referenceOf(schema: JSONSchemaProps): string | undefined {
  const reference = schema.$ref ?? schema.allOf?.find(({ $ref }) => $ref !== undefined)?.$ref
  return reference?.replace('#/components/schemas/', '')
}
