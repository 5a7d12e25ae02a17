/** The same shape without `readonly`, to its depth. */
export type Draft<T> = T extends (...args: never) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? Draft<Item>[]
    : T extends object
      ? { -readonly [Field in keyof T]: Draft<T[Field]> }
      : T

/** A copy that is yours to edit. Objects of the API are JSON values, so nothing is lost. */
export function draftOf<T>(object: T): Draft<T> {
  return copy(object) as Draft<T>
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const result: Record<string, unknown> = {}
  for (const [field, part] of Object.entries(value)) {
    // Not by assignment: a field may be called __proto__.
    if (field === '__proto__') {
      Object.defineProperty(result, field, {
        value: copy(part),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    } else result[field] = copy(part)
  }
  return result
}

/**
 * What a mutating function makes of a draft: the draft as it edited it, or what it returned in its place.
 */
export type Mutate<T> = (draft: Draft<T>) => T | void | Promise<T | void>

export async function mutated<T>(object: T, mutate: Mutate<T>): Promise<T> {
  const draft = draftOf(object)
  return ((await mutate(draft)) ?? draft) as T
}
