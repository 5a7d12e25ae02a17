/** Keywords of JSON Schema that no structural schema has. Contract: docs/behaviour/api-server/custom-resources.md, Structural schema. */
import { givenValue } from '@gyropilot/schema/given-value'
import type { Stored } from '@gyropilot/schema/objects'
import { isObject, partsOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

const FOREIGN: readonly (keyof Schema)[] = [
  'id',
  '$schema',
  '$ref',
  'definitions',
  'dependencies',
  'patternProperties',
]

/** Anywhere in the schema. */
export function foreignKeyword(schema: Schema): string | undefined {
  for (const keyword of FOREIGN) if (!isEmpty(schema[keyword])) return keyword
  // Whatever it says: it may be false, or a schema of nothing.
  if (givenValue(schema as Stored, 'additionalItems') !== null) return 'additionalItems'
  if (Array.isArray(schema.items)) return 'items'
  const preserve = 'x-kubernetes-preserve-unknown-fields'
  if (schema[preserve] === false) return preserve
  for (const part of partsOf(schema)) {
    const found = foreignKeyword(part)
    if (found !== undefined) return found
  }
  return undefined
}

/** What a schema with that keyword is refused for. */
export function foreignProblem(keyword: string): string {
  return `OpenAPIV3Schema '${keyword === '$schema' ? 'schema' : keyword}' is not supported`
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === '' ||
    value === false ||
    (isObject(value) && Object.keys(value).length === 0)
  )
}
