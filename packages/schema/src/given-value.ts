import { own } from '@gyropilot/api'
import type { Draft } from './objects.ts'
import { sortedMap } from './json/sorted-json.ts'

/** Empty lists, maps and bytes that were left out: messages print them as `[]`, `{}` and `""`, not as `null`. */
const empties = new WeakMap<object, Draft>()

export function rememberEmpty(holder: Draft, field: string, value: unknown): void {
  const known = empties.get(holder)
  if (known === undefined) empties.set(holder, { [field]: value })
  else known[field] = value
}

/** The empty value that a client gave a field which is left out; undefined when it gave none. */
export function emptyGiven(
  holder: Readonly<Record<string, unknown>> | undefined,
  field: string,
): unknown {
  const known = holder === undefined ? undefined : empties.get(holder)
  return known && own(known, field)
}

/** The fields that a client gave empty and that are left out, with what it gave. */
export function givenEmpties(
  holder: object,
): readonly (readonly [field: string, value: unknown])[] {
  return Object.entries(empties.get(holder) ?? {}).filter(
    ([field]) => !Object.hasOwn(holder, field),
  )
}

/** What was given empty in `from` was so in `to`, which has the same fields. */
export function passEmpties(from: object, to: object): void {
  const known = empties.get(from)
  if (known !== undefined) empties.set(to, known)
}

/** For a field that is put back as it was. */
export function forgetEmpty(holder: object, field: PropertyKey): void {
  const known = empties.get(holder)
  if (known !== undefined) Reflect.deleteProperty(known, field)
}

/**
 * Whether any list or map in a value, at any depth, was given empty and is so still, as no default fills it; what stands in the field
 * `aside` does not count.
 */
export function givesEmpty(value: unknown, aside?: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const [field, given] of Object.entries(empties.get(value) ?? {}))
    if (field !== aside && typeof given === 'object' && !Object.hasOwn(value, field)) return true
  return Object.entries(value).some(([field, member]) => field !== aside && givesEmpty(member))
}

/** The value of a field as the client gave it, for messages: null when it gave none. */
export function givenValue(
  holder: Readonly<Record<string, unknown>> | undefined,
  field: string,
): unknown {
  return sortedMap((holder && own(holder, field)) ?? emptyGiven(holder, field) ?? null)
}

/** A copy at every depth that knows what was given empty. */
export function copyGiven<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyGiven) as T
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, copyGiven<unknown>(member)]),
  )
  const known = empties.get(value)
  if (known !== undefined) empties.set(copy, { ...known })
  return copy as T
}
