/** Syntax errors of JSON in the words of Go's encoding/json, which clients see in 400 answers. */
import { DEEPEST_NESTING } from '../body-refusals.ts'
import { goQuote } from '../go/go-quote.ts'

/**
 * The error for a text that JSON.parse refuses. Go scans bytes: of a longer character it names the first byte. A text may be of any
 * depth: what lies deeper than this server takes documents is not looked at.
 */
export function goJsonError(text: string | Uint8Array): string {
  return new Scanner(Buffer.from(text).toString('latin1')).error() ?? 'unexpected end of JSON input'
}

const WHITESPACE = ' \t\r\n'

class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  error(): string | undefined {
    const inside = this.#value(0)
    if (inside !== undefined) return inside
    this.#skip()
    return this.#at < this.#text.length ? this.#invalid('after top-level value') : undefined
  }

  #skip(): void {
    while (this.#at < this.#text.length && WHITESPACE.includes(this.#text[this.#at]!)) this.#at++
  }

  #invalid(context: string): string {
    if (this.#at >= this.#text.length) return 'unexpected end of JSON input'
    return this.#invalidInside(context)
  }

  /** Inside a word, a number or an escape. Go reads a blank where the text ends, which is wrong there. */
  #invalidInside(context: string): string {
    return `invalid character ${quoteChar(this.#text[this.#at] ?? ' ')} ${context}`
  }

  #value(depth: number): string | undefined {
    if (depth > DEEPEST_NESTING) return 'exceeded max depth'
    this.#skip()
    const char = this.#text[this.#at]
    if (char === undefined) return 'unexpected end of JSON input'
    if (char === '{') return this.#object(depth)
    if (char === '[') return this.#array(depth)
    if (char === '"') return this.#string()
    if (char === 't') return this.#word('true')
    if (char === 'f') return this.#word('false')
    if (char === 'n') return this.#word('null')
    if (char === '-' || (char >= '0' && char <= '9')) return this.#number()
    return this.#invalid('looking for beginning of value')
  }

  #object(depth: number): string | undefined {
    this.#at++
    this.#skip()
    if (this.#text[this.#at] === '}') return void this.#at++
    for (;;) {
      this.#skip()
      if (this.#text[this.#at] !== '"')
        return this.#invalid('looking for beginning of object key string')
      const key = this.#string()
      if (key !== undefined) return key
      this.#skip()
      if (this.#text[this.#at] !== ':') return this.#invalid('after object key')
      this.#at++
      const value = this.#value(depth + 1)
      if (value !== undefined) return value
      this.#skip()
      const char = this.#text[this.#at]
      if (char === '}') return void this.#at++
      if (char !== ',') return this.#invalid('after object key:value pair')
      this.#at++
    }
  }

  #array(depth: number): string | undefined {
    this.#at++
    this.#skip()
    if (this.#text[this.#at] === ']') return void this.#at++
    for (;;) {
      const value = this.#value(depth + 1)
      if (value !== undefined) return value
      this.#skip()
      const char = this.#text[this.#at]
      if (char === ']') return void this.#at++
      if (char !== ',') return this.#invalid('after array element')
      this.#at++
    }
  }

  #string(): string | undefined {
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]!
      if (char === '"') return void this.#at++
      if (char < ' ') return this.#invalid('in string literal')
      if (char !== '\\') continue
      this.#at++
      const escaped = this.#text[this.#at] ?? ' '
      if (escaped === 'u') {
        for (let i = 0; i < 4; i++) {
          this.#at++
          if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? ''))
            return this.#invalidInside('in \\u hexadecimal character escape')
        }
      } else if (!'"\\/bfnrt'.includes(escaped)) return this.#invalidInside('in string escape code')
    }
    return 'unexpected end of JSON input'
  }

  #word(word: string): string | undefined {
    for (let i = 1; i < word.length; i++) {
      this.#at++
      if (this.#text[this.#at] !== word[i])
        return this.#invalidInside(`in literal ${word} (expecting ${quoteChar(word[i]!)})`)
    }
    return void this.#at++
  }

  #number(): string | undefined {
    if (this.#text[this.#at] === '-') {
      this.#at++
      if (!isDigit(this.#text[this.#at])) return this.#invalidInside('in numeric literal')
    }
    if (this.#text[this.#at] === '0') this.#at++
    else while (isDigit(this.#text[this.#at])) this.#at++
    if (this.#text[this.#at] === '.') {
      this.#at++
      if (!isDigit(this.#text[this.#at]))
        return this.#invalidInside('after decimal point in numeric literal')
      while (isDigit(this.#text[this.#at])) this.#at++
    }
    if (this.#text[this.#at] === 'e' || this.#text[this.#at] === 'E') {
      this.#at++
      if (this.#text[this.#at] === '+' || this.#text[this.#at] === '-') this.#at++
      if (!isDigit(this.#text[this.#at]))
        return this.#invalidInside('in exponent of numeric literal')
      while (isDigit(this.#text[this.#at])) this.#at++
    }
    return undefined
  }
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= '0' && char <= '9'
}

function quoteChar(char: string): string {
  if (char === "'") return `'\\''`
  if (char === '"') return `'"'`
  return `'${goQuote(char).slice(1, -1)}'`
}
