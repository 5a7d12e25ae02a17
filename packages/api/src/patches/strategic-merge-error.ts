/** What a strategic merge patch is refused for, in the words of Kubernetes. */
import { goFormat, goString, goTypeName } from '../values/go-format.ts'
import { type JsonObject, isObject } from '../values/json-objects.ts'

/** `badRequest`: the server answers 400; otherwise the text comes with 500. */
export class StrategicMergeError extends Error {
  override readonly name = 'StrategicMergeError'
  readonly badRequest: boolean

  constructor(message: string, badRequest = false) {
    super(message)
    this.badRequest = badRequest
  }
}

export function mustBeList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw wrongType('[]interface {}', value)
}

export function mustBeMap(value: unknown): JsonObject {
  if (isObject(value)) return value
  throw wrongType('map[string]interface {}', value)
}

export function mustHaveKey(item: unknown, mergeKey: string): JsonObject {
  const map = mustBeMap(item)
  if (Object.hasOwn(map, mergeKey)) return map
  throw new StrategicMergeError(
    `map: ${goFormat(map)} does not contain declared merge key: ${mergeKey}`,
  )
}

export function unknownPatchType(directive: unknown, map: unknown): StrategicMergeError {
  return new StrategicMergeError(
    `unknown patch type: ${goString(directive)} in map: ${goFormat(map)}`,
  )
}

function wrongType(expected: string, value: unknown): StrategicMergeError {
  const received = value === null || value === undefined ? '%!s(<nil>)' : goTypeName(value)
  return new StrategicMergeError(`expected a ${expected}, but received a ${received}`)
}

/** `schema`: the struct that has no such field, `core-v1.PodSpec`. */
export function unknownField(schema: string, name: string): StrategicMergeError {
  const struct = schema.slice(schema.indexOf('.') + 1)
  return new StrategicMergeError(
    `unable to find api field in struct ${struct} for the json field "${name}"`,
  )
}
