import { deepEqual } from '../values/deep-equal.ts'
import { type JsonObject, isObject, own, setOwn } from '../values/json-objects.ts'

/**
 * The smallest merge patch (RFC 7386) that makes `modified` of `original`: undefined when there is nothing to change.
 * Null and undefined in `modified` mean absent, because a merge patch cannot set null. Lists are replaced as a whole.
 */
export function createMergePatch(original: object, modified: object): JsonObject | undefined {
  const patch = difference(original as JsonObject, modified as JsonObject)
  return Object.keys(patch).length === 0 ? undefined : patch
}

function difference(original: JsonObject, modified: JsonObject): JsonObject {
  const patch: JsonObject = {}
  for (const [key, wanted] of Object.entries(modified)) {
    if (wanted === undefined || wanted === null) continue
    const current = own(original, key)
    if (isObject(current) && isObject(wanted)) {
      const inner = difference(current, wanted)
      if (Object.keys(inner).length > 0) setOwn(patch, key, inner)
    } else if (!deepEqual(current, wanted)) {
      setOwn(patch, key, wanted)
    }
  }
  for (const [key, current] of Object.entries(original)) {
    const wanted = own(modified, key)
    if (current !== undefined && current !== null && (wanted === undefined || wanted === null)) {
      setOwn(patch, key, null)
    }
  }
  return patch
}
