/** Resources inside of resources (x-kubernetes-embedded-resource). Contract: docs/behaviour/api-server/custom-resources.md, Value validation. */
import { DecodeError, decodePart } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import { validateMetadata } from '@gyropilot/schema/validation/metadata'
import { dns1035Label, pathSegment } from '@gyropilot/schema/validation/names'
import {
  additionalOf,
  childPath,
  isEmbedded,
  isObject,
  itemsOf,
  propertyOf,
} from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'

const TYPE_FIELDS = ['apiVersion', 'kind'] as const

/** Visits the embedded resources below the root. */
export function walkEmbedded(
  value: unknown,
  schema: Schema | undefined,
  path: string,
  visit: (embedded: JsonObject, path: string) => void,
): void {
  if (schema === undefined) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      walkEmbedded(item, itemsOf(schema), `${path}[${index}]`, visit)
  } else if (isObject(value)) {
    if (path !== '' && isEmbedded(schema)) visit(value, path)
    const additional = additionalOf(schema)
    for (const name of Object.keys(value)) {
      const property = propertyOf(schema, name)
      const child = property ?? (additional === true ? undefined : additional)
      const at = property === undefined ? `${path}[${name}]` : childPath(path, name)
      if (child !== undefined) walkEmbedded(value[name], child, at, visit)
    }
  }
}

/** Of several values of a wrong type the first by name is told: kube-apiserver writes a free-form object anew, by its keys, to read this part. */
export function decodeObjectMeta(metadata: unknown): ReturnType<typeof decodePart> {
  try {
    return decodePart('meta-v1.ObjectMeta', metadata)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return decodePart('meta-v1.ObjectMeta', sortedJson(metadata))
  }
}

/** Brings its metadata to the form of ObjectMeta, in place, and answers the problems found. The first value of a wrong type goes to `errors`. */
export function coerceEmbedded(
  embedded: JsonObject,
  path: string,
  errors: FieldErrors,
): readonly string[] {
  for (const name of TYPE_FIELDS) {
    const given = embedded[name]
    if (given === undefined || typeof given === 'string') continue
    errors.invalid(`${path}.${name}`, sortedJson(given), 'must be a string')
    return []
  }
  const { metadata } = embedded
  if (metadata === undefined) return []
  try {
    const decoded = decodeObjectMeta(metadata)
    embedded['metadata'] = decoded.object
    return decoded.problems
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    errors.invalid(`${path}.metadata`, sortedJson(metadata), error.message)
    return []
  }
}

const GROUP_AND_VERSION = 2

/** What its apiVersion and kind say. */
function validateEmbeddedType(embedded: JsonObject, path: string, errors: FieldErrors): void {
  for (const name of TYPE_FIELDS) {
    const at = `${path}.${name}`
    const given = embedded[name]
    if (given === undefined) errors.required(at)
    else if (given === '') errors.invalid(at, given, 'must not be empty')
  }
  const { apiVersion, kind } = embedded
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > GROUP_AND_VERSION)
    errors.invalid(
      `${path}.apiVersion`,
      apiVersion,
      `unexpected GroupVersion string: ${apiVersion}`,
    )
  if (typeof kind !== 'string' || kind === '') return
  const problems = dns1035Label(kind.toLowerCase())
  if (problems.length > 0)
    errors.invalid(
      `${path}.kind`,
      kind,
      `may have mixed case, but should otherwise match: ${problems.join(',')}`,
    )
}

export function validateEmbedded(object: unknown, schema: Schema, errors: FieldErrors): void {
  walkEmbedded(object, schema, '', (embedded, path) =>
    validateEmbeddedResource(embedded, path, errors),
  )
}

/** What its apiVersion, kind and metadata say. */
export function validateEmbeddedResource(
  embedded: JsonObject,
  path: string,
  errors: FieldErrors,
): void {
  validateEmbeddedType(embedded, path, errors)
  if (!isObject(embedded['metadata'])) return
  const { namespace } = embedded['metadata']
  // Only what is given is checked: an embedded object need not have a name yet.
  const named = { metadata: { name: 'fakename', ...embedded['metadata'] } }
  validateMetadata(
    named,
    namespace !== undefined,
    (name) => pathSegment(name),
    errors,
    `${path}.metadata`,
  )
}
