/**
 * From a text to its tokens, as YAML 1.1 has them. A token that turns out to be a key is told of as one before it is handed out: until a
 * colon can no longer follow, it waits.
 */
import { Cursor, END, TAB, SPACE, isBreak, isSpaceOrEnd } from './cursor.ts'
import type { Mark } from './cursor.ts'
import { scanBlock } from './scan-block.ts'
import { scanPlain } from './scan-plain.ts'
import { scanAnchor, scanDirective, scanTag } from './scan-properties.ts'
import { scanQuoted } from './scan-quoted.ts'
import type { Token, TokenType } from './tokens.ts'
import { wrongCharacters } from './yaml-error.ts'

/** A key without a question mark stands on one line and is no longer than this. */
const LONGEST_KEY = 1024

/** Something that a colon would make a key. */
interface PossibleKey {
  readonly mark: Mark
  /** Which token it is, counted from the first. */
  readonly token: number
  /** Nothing else can stand here. */
  readonly required: boolean
}

export class Scanner {
  readonly #cursor: Cursor
  readonly #waiting: Token[] = []
  /** Of all tokens, how many were handed out. */
  #taken = 0
  #indent = -1
  readonly #indents: number[] = []
  /** By depth of brackets. */
  readonly #keys: (PossibleKey | undefined)[] = [undefined]
  /** At which depth a token may be a key, by its number. */
  readonly #depths = new Map<number, number>()
  /** For each open bracket, the last token that its depth waited with; the bracket itself while it holds nothing. */
  readonly #lastKeys: number[] = []
  #keyAllowed = true
  #ended = false

  constructor(text: string) {
    this.#cursor = new Cursor(text)
    if (text.charCodeAt(0) === 0xfeff) this.#cursor.offset++
  }

  get offset(): number {
    return this.#cursor.offset
  }

  peek(): Token {
    while (!this.#headIsSure()) this.#scanNext()
    return this.#waiting[0]!
  }

  take(): Token {
    const token = this.peek()
    this.#waiting.shift()
    this.#taken++
    return token
  }

  /** Whether the token in front is what it seems to be: no key begins with it. */
  #headIsSure(): boolean {
    if (this.#waiting.length === 0) return this.#ended
    const depth = this.#depths.get(this.#taken)
    return depth === undefined || !this.#isKeyPossible(depth)
  }

  get #inFlow(): boolean {
    return this.#keys.length > 1
  }

  #scanNext(): void {
    const cursor = this.#cursor
    this.#skipToToken()
    this.#closeBlocks(cursor.column)
    const code = cursor.code()
    if (code === END) return this.#streamEnd()
    if (cursor.column === 0 && code === 0x25) {
      this.#outOfDocument()
      this.#waiting.push(scanDirective(cursor))
      return
    }
    if (cursor.isAtDocumentMark()) {
      this.#outOfDocument()
      return this.#sign(code === 0x2d ? 'document start' : 'document end', 3)
    }
    if (!this.#collection(code) && !this.#indicator(code) && !this.#content(code))
      throw wrongCharacters('found character that cannot start any token', cursor)
  }

  /** Brackets and commas. */
  #collection(code: number): boolean {
    switch (code) {
      case 0x5b:
      case 0x7b:
        this.#mayBeKey()
        this.#lastKeys.push(this.#nextToken)
        this.#keys.push(undefined)
        this.#keyAllowed = true
        this.#sign(code === 0x5b ? 'flow sequence' : 'flow mapping')
        return true
      case 0x5d:
      case 0x7d:
        this.#noKey()
        this.#closeBracket()
        this.#keyAllowed = false
        this.#sign(code === 0x5d ? 'flow sequence end' : 'flow mapping end')
        return true
      case 0x2c:
        this.#noKey()
        this.#keyAllowed = true
        this.#sign('flow entry')
        return true
      default:
        return false
    }
  }

  /** Dashes, question marks and colons that stand alone. */
  #indicator(code: number): boolean {
    const isAlone = isSpaceOrEnd(this.#cursor.code(1))
    switch (code) {
      case 0x2d:
        if (isAlone) this.#blockEntry()
        return isAlone
      case 0x3f:
        if (isAlone || this.#inFlow) this.#explicitKey()
        return isAlone || this.#inFlow
      case 0x3a:
        if (isAlone || this.#inFlow) this.#value()
        return isAlone || this.#inFlow
      default:
        return false
    }
  }

  /** Aliases, anchors, tags and scalars. */
  #content(code: number): boolean {
    const cursor = this.#cursor
    if ((code === 0x7c || code === 0x3e) && !this.#inFlow) {
      this.#noKey()
      this.#keyAllowed = true
      const mark = cursor.mark()
      const text = scanBlock(cursor, this.#indent)
      this.#waiting.push({ type: 'scalar', mark, text, plain: false })
      return true
    }
    if (NO_START.has(code) || code === TAB || code === SPACE) return false
    this.#mayBeKey()
    this.#keyAllowed = false
    this.#waiting.push(this.#contentToken(code))
    return true
  }

  #contentToken(code: number): Token {
    const cursor = this.#cursor
    switch (code) {
      case 0x2a:
        return scanAnchor(cursor, 'alias')
      case 0x26:
        return scanAnchor(cursor, 'anchor')
      case 0x21:
        return scanTag(cursor)
      case 0x22:
      case 0x27: {
        const mark = cursor.mark()
        return { type: 'scalar', mark, text: scanQuoted(cursor), plain: false }
      }
      default: {
        const mark = cursor.mark()
        const { text, endsOnNewLine } = scanPlain(cursor, this.#indent + 1, this.#inFlow)
        if (endsOnNewLine) this.#keyAllowed = true
        return { type: 'scalar', mark, text, plain: true }
      }
    }
  }

  #skipToToken(): void {
    const cursor = this.#cursor
    for (;;) {
      const code = cursor.code()
      if (code === SPACE || (code === TAB && (this.#inFlow || !this.#keyAllowed))) cursor.forward()
      else if (code === 0x23) cursor.restOfLine()
      else if (isBreak(code)) {
        cursor.lineBreak()
        if (!this.#inFlow) this.#keyAllowed = true
      } else return
    }
  }

  #sign(type: TokenType, width = 1): void {
    this.#waiting.push({ type, mark: this.#cursor.mark(), text: '' })
    this.#cursor.forward(width)
  }

  #streamEnd(): void {
    const cursor = this.#cursor
    // A last line without a break is one.
    if (cursor.column !== 0) {
      cursor.column = 0
      cursor.line++
    }
    this.#outOfDocument()
    this.#ended = true
    this.#sign('stream end', 0)
  }

  #outOfDocument(): void {
    this.#closeBlocks(-1)
    this.#noKey()
    this.#keyAllowed = false
  }

  #blockEntry(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed)
        throw wrongCharacters(
          'block sequence entries are not allowed in this context',
          this.#cursor,
        )
      this.#openBlock('block sequence', this.#cursor.mark())
    }
    this.#noKey()
    this.#keyAllowed = true
    this.#sign('block entry')
  }

  #explicitKey(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed)
        throw wrongCharacters('mapping keys are not allowed in this context', this.#cursor)
      this.#openBlock('block mapping', this.#cursor.mark())
    }
    this.#noKey()
    this.#keyAllowed = !this.#inFlow
    this.#sign('key')
  }

  #value(): void {
    const depth = this.#keys.length - 1
    const key = this.#keys[depth]
    if (key !== undefined && this.#isKeyPossible(depth)) {
      const at = key.token - this.#taken
      // What was handed out is no key any more: the tokens make no sense, as they do to the real reader.
      const before = at < 0 ? this.#waiting.length : at
      this.#waiting.splice(before, 0, { type: 'key', mark: key.mark, text: '' })
      this.#openBlock('block mapping', key.mark, at < 0 ? this.#waiting.length : at)
      this.#forgetKey(depth)
      this.#keyAllowed = false
    } else {
      if (!this.#inFlow) {
        if (!this.#keyAllowed)
          throw wrongCharacters('mapping values are not allowed in this context', this.#cursor)
        this.#openBlock('block mapping', this.#cursor.mark())
      }
      this.#keyAllowed = !this.#inFlow
    }
    this.#sign('value')
  }

  /** A collection begins by standing further to the right. `at`: before which of the waiting tokens. */
  #openBlock(
    type: 'block sequence' | 'block mapping',
    mark: Mark,
    at = this.#waiting.length,
  ): void {
    if (this.#inFlow || this.#indent >= mark.column) return
    this.#indents.push(this.#indent)
    this.#indent = mark.column
    this.#waiting.splice(at, 0, { type, mark, text: '' })
  }

  #closeBlocks(column: number): void {
    if (this.#inFlow) return
    while (this.#indent > column) {
      this.#waiting.push({ type: 'block end', mark: this.#cursor.mark(), text: '' })
      this.#indent = this.#indents.pop()!
    }
  }

  /** An empty pair of brackets is handed out before it is known whether a colon follows. */
  #closeBracket(): void {
    if (!this.#inFlow) return
    this.#depths.delete(this.#lastKeys.pop()!)
    this.#keys.pop()
  }

  get #nextToken(): number {
    return this.#taken + this.#waiting.length
  }

  #mayBeKey(): void {
    const required = !this.#inFlow && this.#indent === this.#cursor.column
    if (!this.#keyAllowed) return
    this.#noKey()
    const depth = this.#keys.length - 1
    const token = this.#nextToken
    this.#keys[depth] = { mark: this.#cursor.mark(), token, required }
    this.#depths.set(token, depth)
    if (depth > 0) this.#lastKeys[depth - 1] = token
  }

  #noKey(): void {
    const depth = this.#keys.length - 1
    const key = this.#keys[depth]
    if (key?.required) throw this.#missingColon(key)
    this.#forgetKey(depth)
  }

  #forgetKey(depth: number): void {
    const key = this.#keys[depth]
    if (key !== undefined) this.#depths.delete(key.token)
    this.#keys[depth] = undefined
  }

  #isKeyPossible(depth: number): boolean {
    const key = this.#keys[depth]
    if (key === undefined) return false
    const { mark } = key
    if (mark.line === this.#cursor.line && mark.offset + LONGEST_KEY >= this.#cursor.offset)
      return true
    if (key.required) throw this.#missingColon(key)
    this.#forgetKey(depth)
    return false
  }

  #missingColon({ mark }: PossibleKey): Error {
    return wrongCharacters("could not find expected ':'", this.#cursor, mark)
  }
}

/** What no plain scalar begins with, and what has its meaning only elsewhere: | > % @ ` and sharps. */
const NO_START: ReadonlySet<number> = new Set([0x7c, 0x3e, 0x25, 0x40, 0x60, 0x23])
