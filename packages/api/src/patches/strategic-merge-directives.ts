/** What stands beside fields in a strategic merge patch. */
import { isObject, setOwn } from '../values/json-objects.ts'

export const PATCH = '$patch'
export const RETAIN_KEYS = '$retainKeys'
export const ORDER_PREFIX = '$setElementOrder/'
export const DELETE_PREFIX = '$deleteFromPrimitiveList/'

/** Of maps, however deep. A directive that is null is none. */
export function dropNulls(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item)
  if (!isObject(value)) return
  for (const [key, field] of Object.entries(value)) {
    if (field === null) delete value[key]
    else dropNulls(field)
  }
}

/**
 * A value that meets nothing on the server: maps that say what is to be done with them are not there at all. Maps are changed, and so
 * is what errors show of the patch; of a list another one is made.
 */
export function withoutDirectives(value: unknown): unknown {
  const isMarked = (part: unknown): boolean => isObject(part) && Object.hasOwn(part, PATCH)
  if (Array.isArray(value)) return value.filter((item) => !isMarked(item)).map(withoutDirectives)
  if (!isObject(value)) return value
  for (const [key, field] of Object.entries(value))
    if (isMarked(field)) delete value[key]
    else setOwn(value, key, withoutDirectives(field))
  return value
}
