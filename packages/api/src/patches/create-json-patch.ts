import { deepEqual } from '../values/deep-equal.ts'
import { type JsonObject, isObject, own } from '../values/json-objects.ts'
import type { JsonPatchOperation } from './json-patch.ts'

/** What makes `modified` of `original` (RFC 6902): field by field in objects; a list that differs is replaced as a whole. */
export function createJsonPatch(original: object, modified: object): JsonPatchOperation[] {
  return [...operations('', original as JsonObject, modified as JsonObject)]
}

/** Undefined is absent. */
function* operations(
  at: string,
  original: JsonObject,
  modified: JsonObject,
): Generator<JsonPatchOperation> {
  for (const [key, current] of Object.entries(original)) {
    if (current !== undefined && own(modified, key) === undefined)
      yield { op: 'remove', path: pathOf(at, key) }
  }
  for (const [key, value] of Object.entries(modified)) {
    const path = pathOf(at, key)
    const current = own(original, key)
    if (value === undefined || deepEqual(current, value)) continue
    if (current === undefined) yield { op: 'add', path, value }
    else if (isObject(current) && isObject(value)) yield* operations(path, current, value)
    else yield { op: 'replace', path, value }
  }
}

/** RFC 6901. */
function pathOf(at: string, key: string): string {
  return `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
