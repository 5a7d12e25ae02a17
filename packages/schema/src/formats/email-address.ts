/** The format `email`: one address with whatever RFC 5322 allows around it, as Go's net/mail reads it. */
import { parseIp } from '@gyropilot/api'

const SPECIALS = new Set('()<>[]:;@\\,"')
const WHITE = new Set(' \t')

class NotAnAddress extends Error {}

/** `a@b.c`, `Name <a@b.c>`, `"quoted"@b.c`, `a@[1.2.3.4]`, `a@b.c (comment)`; a group with one address in it too. */
export function isEmail(text: string): boolean {
  try {
    const reader = new Reader(text)
    const count = reader.address(true)
    return count === 1 && reader.skipCommentsAndSpace() && reader.isAtEnd
  } catch (error) {
    if (error instanceof NotAnAddress) return false
    throw error
  }
}

/** Goes through code points. Each rule takes what it knows off the front, or throws. */
class Reader {
  readonly #characters: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#characters = [...text]
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#characters.length
  }

  get #next(): string | undefined {
    return this.#characters[this.#at]
  }

  /** How many addresses it is: a group may have any number. */
  address(groupAllowed: boolean): number {
    this.#skipSpace()
    if (this.isAtEnd) throw new NotAnAddress()
    if (this.#tried(() => this.#localAndDomain())) return 1
    if (this.#next !== '<') this.#phrase()
    this.#skipSpace()
    if (groupAllowed && this.#take(':')) return this.#group()
    if (!this.#take('<')) throw new NotAnAddress()
    this.#localAndDomain()
    if (!this.#take('>')) throw new NotAnAddress()
    return 1
  }

  /** False: a comment has no end. */
  skipCommentsAndSpace(): boolean {
    for (;;) {
      this.#skipSpace()
      if (!this.#take('(')) return true
      if (!this.#comment()) return false
    }
  }

  #group(): number {
    let count = 0
    this.#skipSpace()
    if (!this.#take(';')) {
      for (;;) {
        this.#skipSpace()
        count += this.address(false)
        if (!this.skipCommentsAndSpace()) throw new NotAnAddress()
        if (this.#take(';')) break
        if (!this.#take(',')) throw new NotAnAddress()
      }
    }
    if (!this.skipCommentsAndSpace()) throw new NotAnAddress()
    return count
  }

  #localAndDomain(): void {
    this.#skipSpace()
    if (this.isAtEnd) throw new NotAnAddress()
    if (this.#next === '"') {
      if (this.#quoted() === '') throw new NotAnAddress()
    } else this.#dottedAtom(true)
    if (!this.#take('@')) throw new NotAnAddress()
    this.#skipSpace()
    if (this.#next === '[') this.#domainLiteral()
    else this.#dottedAtom(true)
  }

  /** Words and quoted texts before an address in angle brackets; at least one. */
  #phrase(): void {
    for (let words = 0; ; words++) {
      if (words > 0 && !this.skipCommentsAndSpace()) throw new NotAnAddress()
      this.#skipSpace()
      const word = (): unknown => (this.#next === '"' ? this.#quoted() : this.#dottedAtom(false))
      if (this.#tried(word)) continue
      if (words === 0) throw new NotAnAddress()
      return
    }
  }

  #dottedAtom(strict: boolean): void {
    const startAt = this.#at
    while (this.#next !== undefined && isVisible(this.#next) && !SPECIALS.has(this.#next))
      this.#at++
    const atom = this.#characters.slice(startAt, this.#at).join('')
    if (atom === '') throw new NotAnAddress()
    if (strict && (atom.startsWith('.') || atom.endsWith('.') || atom.includes('..')))
      throw new NotAnAddress()
  }

  #quoted(): string {
    let content = ''
    this.#at++
    for (let isEscaped = false; ;) {
      const character = this.#characters[this.#at++]
      if (character === undefined) throw new NotAnAddress()
      if (!isEscaped && character === '"') return content
      if (!isVisible(character) && !WHITE.has(character)) throw new NotAnAddress()
      if (!isEscaped && character === '\\') isEscaped = true
      else {
        content += character
        isEscaped = false
      }
    }
  }

  #domainLiteral(): void {
    const endAt = this.#characters.indexOf(']', this.#at)
    if (endAt === -1) throw new NotAnAddress()
    const literal = this.#characters.slice(this.#at + 1, endAt).join('')
    if (parseIp(literal) === undefined) throw new NotAnAddress()
    this.#at = endAt + 1
  }

  /** Behind its first parenthesis; whether it ends. */
  #comment(): boolean {
    let depth = 1
    while (depth > 0 && !this.isAtEnd) {
      const character = this.#characters[this.#at++]
      if (character === '\\' && !this.isAtEnd) this.#at++
      else if (character === '(') depth++
      else if (character === ')') depth--
    }
    return depth === 0
  }

  #skipSpace(): void {
    while (this.#next !== undefined && WHITE.has(this.#next)) this.#at++
  }

  #take(character: string): boolean {
    if (this.#next !== character) return false
    this.#at++
    return true
  }

  /** Stays where it was when it fails. */
  #tried(rule: () => unknown): boolean {
    const startAt = this.#at
    try {
      rule()
      return true
    } catch (error) {
      if (!(error instanceof NotAnAddress)) throw error
      this.#at = startAt
      return false
    }
  }
}

/** Printed ASCII but the space, and everything beyond ASCII. */
function isVisible(character: string): boolean {
  return (character >= '!' && character <= '~') || character.codePointAt(0)! >= 0x80
}
