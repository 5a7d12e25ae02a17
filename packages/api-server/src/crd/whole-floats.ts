/**
 * Whole numbers that were sent as fractions (`3.0`, `1e3`): Go reads them as floats, and prints them as integers, so that they are
 * integers once they have been stored. Until then they are others than the integers that are stored already.
 */
import { exactInteger } from '@gyropilot/foundation/exact-json'
import { fitsInt64 } from '@gyropilot/schema/go-number'
import type { Spellings } from '@gyropilot/schema/json'

/** By the object or list that they stand in. */
const floats = new WeakMap<object, ReadonlyMap<string | number, number>>()
/** Whole objects in which any was sent. */
const holders = new WeakSet<object>()

/** `object`: a copy of `sent`, which the spellings know. */
export function rememberFloats(object: object, sent: object, spellings: Spellings): void {
  if (remember(object, sent, spellings)) holders.add(object)
}

function remember(copy: object, sent: object, spellings: Spellings): boolean {
  const isList = Array.isArray(sent)
  const found = new Map<string | number, number>()
  let any = false
  for (const [name, member] of Object.entries(sent)) {
    const key = isList ? Number(name) : name
    const written = spellings.get(sent)?.get(key)
    if (written !== undefined && fitsInt64(member as number) && /[.eE]/.test(written))
      found.set(key, member as number)
    const copied = (copy as Record<string, unknown>)[name]
    if (isNested(member) && isNested(copied) && remember(copied, member, spellings)) any = true
  }
  if (found.size === 0) return any
  floats.set(copy, found)
  return true
}

/** Whether one stands where it was sent, in none of the members `aside` of the object. */
export function holdsFloat(object: object, aside: ReadonlySet<string>): boolean {
  return holders.has(object) && stands(object, aside)
}

function stands(value: object, aside?: ReadonlySet<string>): boolean {
  const known = floats.get(value)
  return Object.entries(value).some(([name, member]) => {
    if (aside?.has(name) === true) return false
    if (isNested(member)) return stands(member)
    return known?.get(Array.isArray(value) ? Number(name) : name) === member && member !== undefined
  })
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What becomes of them by being stored: those that no number holds exactly are integers of as many digits as are printed. */
export function settleFloats(object: object): void {
  if (holders.has(object)) settle(object)
}

function settle(value: object): void {
  const members = value as Record<string | number, unknown>
  for (const [key, float] of floats.get(value) ?? [])
    if (members[key] === float) members[key] = exactInteger(BigInt(String(float)))
  for (const member of Object.values(value)) if (isNested(member)) settle(member)
}
