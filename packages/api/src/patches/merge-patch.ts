/**
 * JSON merge patch, RFC 7386: null deletes, objects merge, everything else replaces.
 * Contract: docs/behaviour/api-server/patch-and-apply.md.
 */
import { type JsonObject, isObject, jsonTypeName, setOwn } from '../values/json-objects.ts'

/** The patch itself is unusable; the server answers 400 with this message. */
export class MergePatchError extends Error {
  override readonly name = 'MergePatchError'
}

/** Throws MergePatchError unless `patch` is an object. Neither argument is changed; untouched parts are shared. */
export function applyMergePatch(target: unknown, patch: unknown): JsonObject {
  if (patch === null || patch === undefined) throw new MergePatchError('Invalid JSON Patch')
  if (!isObject(patch)) {
    throw new MergePatchError(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    )
  }
  return mergeObject(isObject(target) ? target : {}, patch)
}

function mergeObject(target: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...target }
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) {
      delete result[key]
      continue
    }
    const current = Object.hasOwn(result, key) ? result[key] : undefined
    setOwn(result, key, mergeValue(current, value))
  }
  return result
}

function mergeValue(current: unknown, value: unknown): unknown {
  if (!isObject(current)) return withoutNulls(value)
  // What takes the place of an object is taken as it is, with the nulls in it: so kube-apiserver does.
  return isObject(value) ? mergeObject(current, value) : value
}

/** Nulls inside a replacing list's objects delete nothing, yet they are dropped: they never reach an object. Items stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  return isObject(value) ? mergeObject({}, value) : value
}
