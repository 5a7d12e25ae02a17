/** JSON values with their places: one after the other, as kubectl takes them. */
import { DEEPEST_NESTING } from '@gyropilot/schema/body-refusals'
import { exactInteger, mayHoldLongNumbers } from '@gyropilot/foundation/exact-json'
import { goJsonError } from '@gyropilot/schema/go-json-error'
import { SourceError } from './source-node.ts'
import type { ParsedSource, RepeatedKey, SourceMember, SourceNode } from './source-node.ts'

/** Throws SourceError in the words of Go's decoder. */
export function parseJsonStream(text: string): ParsedSource[] {
  const reader = new Reader(text)
  const documents: ParsedSource[] = []
  while (!reader.atEnd()) {
    const repeatedKeys: RepeatedKey[] = []
    documents.push({ root: reader.value(repeatedKeys), repeatedKeys })
  }
  return documents
}

const SPACE = ' \t\r\n'
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const WORD = /true|false|null/y

class Reader {
  readonly #text: string
  #at = 0
  #documentStart = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  atEnd(): boolean {
    this.#skip()
    this.#documentStart = this.#at
    return this.#at >= this.#text.length
  }

  value(repeated: RepeatedKey[]): SourceNode {
    const first = this.#peek()
    const start = this.#at
    if (first === '{') return this.#nested(() => this.#object(start, repeated))
    if (first === '[') return this.#nested(() => this.#array(start, repeated))
    if (first === '"') return { start, value: this.#string() }
    const word = this.#match(WORD)
    if (word !== undefined) return { start, value: JSON.parse(word) as unknown }
    const number = this.#match(NUMBER)
    if (number === undefined) throw this.#error()
    const isLong = mayHoldLongNumbers(number) && /^-?\d+$/.test(number)
    return { start, value: isLong ? exactInteger(BigInt(number)) : Number(number) }
  }

  #nested(read: () => SourceNode): SourceNode {
    if (++this.#depth > DEEPEST_NESTING) throw new SourceError('exceeded max depth', this.#at)
    const node = read()
    this.#depth--
    return node
  }

  #object(start: number, repeated: RepeatedKey[]): SourceNode {
    const members = new Map<string, SourceMember>()
    this.#at++
    if (this.#peek() === '}') this.#at++
    else
      for (;;) {
        this.#skip()
        const keyStart = this.#at
        const key = this.#string()
        this.#take(':')
        const node = this.value(repeated)
        if (members.has(key)) repeated.push({ key, start: keyStart })
        members.set(key, { keyStart, node })
        if (this.#peek() === '}') break
        this.#take(',')
      }
    if (members.size > 0) this.#at++
    const entries = [...members].map(([key, { node }]) => [key, node.value] as const)
    return { start, value: Object.fromEntries(entries), members }
  }

  #array(start: number, repeated: RepeatedKey[]): SourceNode {
    const items: SourceNode[] = []
    this.#at++
    if (this.#peek() === ']') this.#at++
    else
      for (;;) {
        items.push(this.value(repeated))
        if (this.#peek() === ']') break
        this.#take(',')
      }
    if (items.length > 0) this.#at++
    return { start, value: items.map(({ value }) => value), items }
  }

  #string(): string {
    if (this.#peek() !== '"') throw this.#error()
    // Not by a pattern: those that look at two kinds of characters in turn end at some megabytes.
    let end = this.#at + 1
    while (end < this.#text.length && this.#text[end] !== '"')
      end += this.#text[end] === '\\' ? 2 : 1
    try {
      const text = JSON.parse(this.#text.slice(this.#at, end + 1)) as string
      this.#at = end + 1
      return text
    } catch {
      throw this.#error()
    }
  }

  #take(char: string): void {
    if (this.#peek() !== char) throw this.#error()
    this.#at++
  }

  #match(pattern: RegExp): string | undefined {
    this.#skip()
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #peek(): string | undefined {
    this.#skip()
    return this.#text[this.#at]
  }

  #skip(): void {
    while (this.#at < this.#text.length && SPACE.includes(this.#text[this.#at]!)) this.#at++
  }

  #error(): SourceError {
    return new SourceError(goJsonError(this.#text.slice(this.#documentStart)), this.#at)
  }
}
