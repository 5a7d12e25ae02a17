import { setOwn } from '@gyropilot/api'

/**
 * Semantic equality of decoded values: an absent, null or empty list is equal to another; order of keys does not count. An empty
 * object is none of these: decoding leaves empty maps out, so that it is a struct that was given, as `securityContext: {}`.
 */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isEmpty(a) && isEmpty(b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => semanticallyEqual(item, b[index]))
    )
  }
  if (Array.isArray(b)) return false
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  for (const key of Object.keys(left))
    if (!semanticallyEqual(left[key], ownValue(right, key))) return false
  for (const key of Object.keys(right))
    if (!Object.hasOwn(left, key) && !semanticallyEqual(undefined, right[key])) return false
  return true
}

/** A member that the object has itself. Keys that clients choose may be `constructor`, which every object inherits. */
export function ownValue<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/**
 * The new value built from parts of the old one wherever they are equal, so that states of an object share what did not
 * change; the old value itself when nothing did. The order of keys does not count. Frozen parts are somebody's already, and
 * stay what they are.
 */
export function shareUnchanged(next: unknown, previous: unknown): unknown {
  if (next === previous) return previous
  if (
    typeof next !== 'object' ||
    typeof previous !== 'object' ||
    next === null ||
    previous === null
  )
    return next
  if (Array.isArray(next)) {
    if (!Array.isArray(previous)) return next
    let equal = next.length === previous.length
    const shared = next.map((item, index) => {
      const kept = shareUnchanged(item, previous[index])
      if (kept !== previous[index]) equal = false
      return kept
    })
    return equal ? previous : Object.isFrozen(next) ? next : shared
  }
  if (Array.isArray(previous)) return next
  const from = next as Record<string, unknown>
  const old = previous as Record<string, unknown>
  // Rules may leave fields behind that are undefined: as good as absent.
  const keys = Object.keys(from).filter((key) => from[key] !== undefined)
  let equal = keys.length === Object.keys(old).length
  const shared: Record<string, unknown> = {}
  for (const key of keys) {
    const kept = Object.hasOwn(old, key) ? shareUnchanged(from[key], old[key]) : from[key]
    if (!Object.hasOwn(old, key) || kept !== old[key]) equal = false
    setOwn(shared, key, kept)
  }
  return equal ? previous : Object.isFrozen(next) ? next : shared
}

/** A copy of a JSON value that may be edited. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneJson) as T
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value))
    setOwn(copy, key, cloneJson((value as Record<string, unknown>)[key]))
  return copy as T
}
