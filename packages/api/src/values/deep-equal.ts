/** Equality of JSON values. A property that is undefined counts as absent; the order of properties does not matter. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return Number.isNaN(a) && Number.isNaN(b)
  }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false
    return true
  }
  if (Array.isArray(b)) return false
  return propertiesEqual(a as Fields, b as Fields, deepEqual)
}

/**
 * Equality for controllers that compare what they want with what they read: null, undefined, `[]` and `{}` are all the
 * same as absent, in the manner of Kubernetes' semantic equality of nil and empty lists and maps. Wider than that in one
 * point: an empty struct, as `securityContext: {}`, also counts as absent.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isEmpty(a)) return isEmpty(b)
  if (isEmpty(b)) return false
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!semanticEqual(a[i], b[i])) return false
    return true
  }
  if (Array.isArray(b)) return false
  return propertiesEqual(a as Fields, b as Fields, semanticEqual)
}

type Fields = Readonly<Record<string, unknown>>

function propertiesEqual(
  a: Fields,
  b: Fields,
  equal: (a: unknown, b: unknown) => boolean,
): boolean {
  for (const key in a) {
    if (!equal(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false
  }
  for (const key in b) {
    if (!Object.hasOwn(a, key) && !equal(undefined, b[key])) return false
  }
  return true
}

/** An object whose properties are all empty is empty too: `{labels: {}}` says as much as `{}`. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.length === 0
  for (const key in value) if (!isEmpty((value as Fields)[key])) return false
  return true
}
