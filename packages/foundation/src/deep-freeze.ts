/** Freezes a JSON value all the way down. A frozen part is taken as deeply frozen: objects share their unchanged parts. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) {
    for (const item of value) deepFreeze(item)
  } else {
    for (const key of Object.keys(value)) deepFreeze((value as Record<string, unknown>)[key])
  }
  return Object.freeze(value)
}
