/**
 * Numbers that a text writes otherwise than Go prints them (`1e3`, `3.0`, `1.50`), on their way through a patch. Go follows patches as
 * texts, so such a number stands in the result as it was written. Until then it is a symbol that bears its text: no object and no
 * number, so that patches move it as it is and find it equal to nothing but what the same patch wrote alike.
 */
import { rawNumber } from '@gyropilot/foundation/exact-json'
import type { DocumentNotes, Occurrences, Spellings } from './json.ts'

/** The value with symbols; the value itself where all numbers are written as they are printed. */
export function withWritten(
  value: unknown,
  { spellings, occurrences }: DocumentNotes,
): WrittenBody {
  if (spellings === undefined) return { value, occurrences }
  const symbols = new Map<string, symbol>()
  return copied(value, occurrences, (member, key, holder) => {
    const text = typeof member === 'number' ? spellings.get(holder)?.get(key) : undefined
    // Of a member that is repeated one text is known.
    if (text === undefined || text === String(member) || Number(text) !== member) return member
    const known = symbols.get(text) ?? Symbol(text)
    symbols.set(text, known)
    return known
  })
}

export interface WrittenBody {
  readonly value: unknown
  readonly occurrences: Occurrences | undefined
}

/** The value with numbers again, and how they were written. */
export function readWritten(value: unknown, occurrences: Occurrences | undefined): WrittenNotes {
  const spellings = new WeakMap<object, Map<string | number, string>>()
  const read = copied(value, occurrences, (member, key, _holder, copy) => {
    if (typeof member !== 'symbol') return member
    const text = member.description!
    const known = spellings.get(copy) ?? new Map<string | number, string>()
    spellings.set(copy, known.set(key, text))
    return Number(text)
  })
  return { ...read, spellings }
}

export interface WrittenNotes extends WrittenBody {
  readonly spellings: Spellings
}

/** JSON with numbers as they were written. */
export function stringifyWritten(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return rawNumber(String(member))
    return typeof member === 'symbol' ? rawNumber(member.description!) : member
  })
}

type Exchange = (member: unknown, key: string | number, holder: object, copy: object) => unknown

/** A copy at every depth, in which scalars were exchanged. */
function copied(
  value: unknown,
  occurrences: Occurrences | undefined,
  exchange: Exchange,
): WrittenBody {
  const repeated: WeakMap<object, readonly (readonly [string, unknown])[]> = new WeakMap()
  const copyOf = (member: unknown): unknown => {
    if (typeof member !== 'object' || member === null) return member
    if (Array.isArray(member)) {
      const list: unknown[] = []
      for (const [index, item] of member.entries())
        list.push(copyOf(exchange(item, index, member, list)))
      return list
    }
    const copy: Record<string, unknown> = {}
    for (const [key, inner] of Object.entries(member))
      Object.defineProperty(copy, key, {
        value: copyOf(exchange(inner, key, member, copy)),
        writable: true,
        enumerable: true,
        configurable: true,
      })
    const members = occurrences?.get(member)
    if (members !== undefined)
      repeated.set(
        copy,
        members.map(([key, inner]) => [key, copyOf(exchange(inner, key, member, {}))] as const),
      )
    return copy
  }
  return { value: copyOf(value), occurrences: occurrences && repeated }
}
