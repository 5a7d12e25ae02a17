/**
 * JSON with the memory of repeated keys, which JSON.parse forgets: strict field validation reports them. Documents without
 * repeated keys, that is almost all, cost one native parse and one count.
 */

import { parseExact } from '@gyropilot/foundation/exact-json'

/** Members in document order, of the objects that repeat a key. */
export type Occurrences = WeakMap<object, readonly (readonly [string, unknown])[]>

/** Numbers with a fraction or an exponent, and those beyond int64, as they were written, by the object or list that they stand in. */
export type Spellings = WeakMap<object, ReadonlyMap<string | number, string>>

/** What a value does not say of the text that it came from. */
export interface DocumentNotes {
  /** Undefined when no key is repeated. */
  readonly occurrences: Occurrences | undefined
  /** Undefined when all numbers are plain integers. */
  readonly spellings?: Spellings | undefined
}

export interface ParsedJson extends DocumentNotes {
  readonly value: unknown
}

/** Strings may have so many digits, too: then the slower way finds nothing. */
const HUGE_NUMBER = /\d{19}/
const SURROGATES =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./gs
const SINGLE_LENGTH = 6

/** Half of a pair of surrogates is no character: Go reads U+FFFD in its place. */
function wellFormed(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text
  return text.replace(SURROGATES, (found) => (found.length === SINGLE_LENGTH ? '\\ufffd' : found))
}

/** Throws SyntaxError. */
export function parseJson(given: string): ParsedJson {
  const text = wellFormed(given)
  const value = parseExact(text)
  const { colons, isPlain: isShort } = scan(text)
  const isPlain = isShort && !HUGE_NUMBER.test(text)
  const isUnique = countKeys(value) === colons
  if (isUnique && isPlain) return { value, occurrences: undefined }
  const { root, occurrences, spellings } = new TextParser(text)
  return {
    value: root,
    occurrences: isUnique ? undefined : occurrences,
    spellings: isPlain ? undefined : spellings,
  }
}

/** The first number that no float64 holds, as it was written. */
export function oversizedNumber(value: unknown, notes: Partial<DocumentNotes>): string | undefined {
  const { spellings, occurrences } = notes
  if (spellings === undefined || typeof value !== 'object' || value === null) return undefined
  const written = spellings.get(value)
  for (const [key, member] of occurrences?.get(value) ?? Object.entries(value)) {
    if (member === Infinity || member === -Infinity)
      return written?.get(Array.isArray(value) ? Number(key) : key)
    const found = oversizedNumber(member, notes)
    if (found !== undefined) return found
  }
  return undefined
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item)
    return count
  }
  for (const key of Object.keys(value))
    count += 1 + countKeys((value as Record<string, unknown>)[key])
  return count
}

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const POINT = 46
/** Either case: the letters that are no strings differ in no other bit. */
const EXPONENT = 101
const LOWER_CASE = 32

/** What stands outside of strings: a colon for each member of the document, and whether all numbers are plain integers. */
function scan(text: string): { readonly colons: number; readonly isPlain: boolean } {
  let colons = 0
  let isPlain = true
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === COLON) colons++
    else if (code === QUOTE) index = endOfString(text, index)
    else if (code === POINT) isPlain = false
    else if ((code | LOWER_CASE) === EXPONENT && isDigit(text.charCodeAt(index - 1)))
      isPlain = false
  }
  return { colons, isPlain }
}

/** Integers up to there are exact. */
function isBeyondInt64(value: unknown): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value)
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function endOfString(text: string, start: number): number {
  let index = start + 1
  while (text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  return index
}

type Spelled = Map<string | number, string>

/** For text that JSON.parse has accepted: no errors to find here. */
class TextParser {
  readonly root: unknown
  readonly occurrences: Occurrences = new WeakMap()
  readonly spellings: WeakMap<object, Spelled> = new WeakMap()
  readonly #text: string
  #at = 0
  /** Of the value that was read last, when it is a number that is no plain integer. */
  #spelling: string | undefined

  constructor(text: string) {
    this.#text = text
    this.root = this.#value()
  }

  #peek(): string {
    while (' \t\r\n'.includes(this.#text[this.#at]!)) this.#at++
    return this.#text[this.#at]!
  }

  #value(): unknown {
    const first = this.#peek()
    if (first === '{') return this.#object()
    if (first === '[') return this.#array()
    if (first === '"') return this.#string()
    const start = this.#at
    while (this.#at < this.#text.length && !',]} \t\r\n'.includes(this.#text[this.#at]!)) this.#at++
    const written = this.#text.slice(start, this.#at)
    const isNumber = first === '-' || isDigit(first.charCodeAt(0))
    const value = parseExact(written)
    if (isNumber && (/[.eE]/.test(written) || isBeyondInt64(value))) this.#spelling = written
    return value
  }

  /** Collects what the members of one object or list look like. */
  #spelled(key: string | number, known: Spelled | undefined): Spelled | undefined {
    if (this.#spelling === undefined) return known
    const all = known ?? new Map<string | number, string>()
    all.set(key, this.#spelling)
    this.#spelling = undefined
    return all
  }

  #string(): string {
    const start = this.#at
    this.#at = endOfString(this.#text, start) + 1
    return JSON.parse(this.#text.slice(start, this.#at)) as string
  }

  #array(): unknown[] {
    const items: unknown[] = []
    let spelled: Spelled | undefined
    this.#at++
    while (this.#peek() !== ']') {
      items.push(this.#value())
      spelled = this.#spelled(items.length - 1, spelled)
      if (this.#peek() === ',') this.#at++
    }
    this.#at++
    if (spelled !== undefined) this.spellings.set(items, spelled)
    return items
  }

  #object(): object {
    const members: [string, unknown][] = []
    let spelled: Spelled | undefined
    this.#at++
    while (this.#peek() !== '}') {
      const key = this.#string()
      this.#peek()
      this.#at++
      members.push([key, this.#value()])
      spelled = this.#spelled(key, spelled)
      if (this.#peek() === ',') this.#at++
    }
    this.#at++
    const object = Object.fromEntries(members)
    if (Object.keys(object).length < members.length) this.occurrences.set(object, members)
    if (spelled !== undefined) this.spellings.set(object, spelled)
    return object
  }
}
