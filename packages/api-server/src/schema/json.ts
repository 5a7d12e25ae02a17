/**
 * JSON with the memory of repeated keys, which JSON.parse forgets: strict field validation reports them. Documents without
 * repeated keys, that is almost all, cost one native parse and one count.
 */

import { parseExact } from './exact-json.ts'

/** Members in document order, of the objects that repeat a key. */
export type Occurrences = WeakMap<object, readonly (readonly [string, unknown])[]>

export interface ParsedJson {
  readonly value: unknown
  /** Undefined when no key is repeated. */
  readonly occurrences: Occurrences | undefined
}

/** Throws SyntaxError. */
export function parseJson(text: string): ParsedJson {
  const value = parseExact(text)
  if (countKeys(value) === countColons(text)) return { value, occurrences: undefined }
  return new RepeatedKeyParser(text).parse()
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

/** Colons outside strings: one for each member of the document. */
function countColons(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === COLON) count++
    else if (code === QUOTE) index = endOfString(text, index)
  }
  return count
}

function endOfString(text: string, start: number): number {
  let index = start + 1
  while (text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  return index
}

/** For text that JSON.parse has accepted: no errors to find here. */
class RepeatedKeyParser {
  readonly #text: string
  readonly #occurrences: Occurrences = new WeakMap()
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): ParsedJson {
    return { value: this.#value(), occurrences: this.#occurrences }
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
    return parseExact(this.#text.slice(start, this.#at))
  }

  #string(): string {
    const start = this.#at
    this.#at = endOfString(this.#text, start) + 1
    return JSON.parse(this.#text.slice(start, this.#at)) as string
  }

  #array(): unknown[] {
    const items: unknown[] = []
    this.#at++
    while (this.#peek() !== ']') {
      items.push(this.#value())
      if (this.#peek() === ',') this.#at++
    }
    this.#at++
    return items
  }

  #object(): object {
    const members: [string, unknown][] = []
    this.#at++
    while (this.#peek() !== '}') {
      const key = this.#string()
      this.#peek()
      this.#at++
      members.push([key, this.#value()])
      if (this.#peek() === ',') this.#at++
    }
    this.#at++
    const object = Object.fromEntries(members)
    if (Object.keys(object).length < members.length) this.#occurrences.set(object, members)
    return object
  }
}
