/** Drops what a schema does not know. Contract: docs/behaviour/api-server/custom-resources.md, Pruning. */
import { compareStrings } from '@gyropilot/foundation'
import { DecodeError } from '@gyropilot/schema/decode'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { coerceEmbedded, decodeObjectMeta, walkEmbedded } from './embedded.ts'
import {
  additionalOf,
  childPath,
  isEmbedded,
  isObject,
  itemsOf,
  preservesUnknown,
  propertyOf,
} from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'

/** Edits the object in place and answers the paths of what was dropped. Metadata is left to `decodeMetadata`. */
export function prune(object: JsonObject, schema: Schema | undefined): readonly string[] {
  const dropped: string[] = []
  pruneMap(object, schema, { resource: true, keeps: preservesUnknown(schema) }, '', dropped)
  return dropped
}

/** `around`: the list that it is an item of keeps unknown fields; then it does, but nothing that it has by its own schema. */
function pruneValue(
  value: unknown,
  schema: Schema | undefined,
  around: boolean,
  path: string,
  dropped: string[],
): void {
  const keeps = around || preservesUnknown(schema)
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    // Under a node that keeps everything, lists without a schema of their own are kept as they are.
    if (items === undefined && keeps) return
    for (const [index, item] of value.entries())
      pruneValue(item, items, keeps, `${path}[${index}]`, dropped)
  } else if (isObject(value))
    pruneMap(value, schema, { resource: isEmbedded(schema), keeps }, path, dropped)
}

function pruneMap(
  value: JsonObject,
  schema: Schema | undefined,
  { resource, keeps }: { readonly resource: boolean; readonly keeps: boolean },
  path: string,
  dropped: string[],
): void {
  const isMap = schema?.additionalProperties !== undefined
  const additional = additionalOf(schema)
  for (const name of Object.keys(value)) {
    if (resource && (name === 'apiVersion' || name === 'kind' || name === 'metadata')) continue
    const property = propertyOf(schema, name)
    const child = childPath(path, name)
    if (property !== undefined) pruneValue(value[name], property, false, child, dropped)
    else if (isMap) {
      // Values that may be anything, or not be at all, are kept, but fields that they have are known to no schema.
      const values = additional === true ? undefined : additional
      pruneValue(value[name], values, false, child, dropped)
    } else if (!keeps) {
      delete value[name]
      dropped.push(child)
    }
  }
}

/** What is wrong with the metadata of an object, and of what is embedded in it, in the order of the paths. */
interface MetadataProblems {
  readonly own: readonly string[]
  readonly embedded: readonly string[]
}

/**
 * Brings the metadata of the object and of embedded resources to the form of ObjectMeta, in place, and answers the
 * problems found (`unknown field "spec.emb.metadata.x"`). Throws DecodeError for a value of a wrong type.
 */
export function decodeMetadata(object: JsonObject, schema: Schema | undefined): MetadataProblems {
  const own: string[] = []
  const embedded: string[] = []
  const tell = (found: readonly string[], path: string, problems: string[]): void => {
    for (const problem of found) problems.push(problem.replace(' field "', ` field "${path}.`))
  }
  if (object['metadata'] !== undefined) {
    const decoded = decodeObjectMeta(object['metadata'])
    object['metadata'] = decoded.object
    tell(decoded.problems, 'metadata', own)
  }
  walkEmbedded(object, schema, '', (resource, path) => {
    const errors = new FieldErrors()
    tell(coerceEmbedded(resource, path, errors), `${path}.metadata`, embedded)
    for (const { field, message } of errors.list) throw new DecodeError(`${field}: ${message}`)
  })
  return { own: own.toSorted(compareStrings), embedded: embedded.toSorted(compareStrings) }
}
