/**
 * The tokens of an expression, and what is told of those that are out of place. One mistake does not end the reading: a token
 * too many is left out, one that is missing is thought of, and what cannot be read is skipped up to what can come after it.
 */
import { tokenize } from './lexer.ts'
import type { Token } from './lexer.ts'
import type { Problem } from './source.ts'

/** What can come after any operand. */
const AFTER_OPERANDS = new Set('[ . * / % + - == != < <= > >= in && || ?'.split(' '))
const OPENING = new Set(['[', '{', '(', '.', '-', '!'])
const OPERAND_NAMES =
  "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"

/** The marks that can stand where an operand can, in the order in which they are named. */
function operandOr(...others: readonly string[]): string {
  const marks = ['[', ']', '{', '}', '(', ')', '.', ',', '-', '!', '?']
  const named = marks.filter((mark) => OPENING.has(mark) || others.includes(mark))
  return `{${named.map((mark) => `'${mark}'`).join(', ')}, ${OPERAND_NAMES}}`
}

/** What is expected where, as messages name it. */
export const EXPECTED = {
  operand: operandOr(),
  index: operandOr('?'),
  argument: operandOr(')'),
  listItem: operandOr(']', ',', '?'),
  mapEntry: operandOr('}', ',', '?'),
  structField: "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}",
  fieldName: '{IDENTIFIER, ESC_IDENTIFIER}',
}

export function isFieldName({ kind }: Token): boolean {
  return kind === 'identifier' || kind === 'quoted'
}

export class TokenStream {
  readonly #tokens: readonly Token[]
  readonly #problems: Problem[]
  /** What ends the constructs that are open, innermost last. */
  readonly #closing: (readonly string[])[] = []
  #next = 0
  /** Nothing more is told until a token is where it belongs. */
  #recovering = false
  #recoveredAt = -1

  constructor(text: string) {
    const { tokens, problems } = tokenize(text)
    this.#tokens = tokens
    this.#problems = [...problems]
  }

  /** In the order of the text. */
  get problems(): readonly Problem[] {
    return this.#problems.toSorted((a, b) => a.offset - b.offset)
  }

  get position(): number {
    return this.#next
  }

  goBack(position: number): void {
    this.#next = position
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!
  }

  advance(): Token {
    this.#recovering = false
    return this.#skip()
  }

  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.text === text && (token.kind === 'operator' || token.kind === 'keyword')
  }

  take(text: string): Token | undefined {
    return this.is(text) ? this.advance() : undefined
  }

  report(token: { readonly offset: number }, message: string): void {
    if (!this.#recovering) this.#problems.push({ offset: token.offset, message })
    this.#recovering = true
  }

  /** What the reading itself does not stumble over. */
  problem({ offset }: { readonly offset: number }, message: string): void {
    this.#problems.push({ offset, message })
  }

  reportSyntax(kind: 'extraneous' | 'mismatched', expected: string): void {
    const token = this.peek()
    this.report(token, `Syntax error: ${kind} input '${token.text}' expecting ${expected}`)
  }

  /** A mark that must be here; the token that is, or one that was thought of. Undefined: neither, and told. */
  expect(text: string): Token | undefined {
    const token = this.take(text)
    if (token !== undefined) return token
    if (this.is(text, 1)) {
      this.reportSyntax('extraneous', `'${text}'`)
      this.#skip()
      return this.advance()
    }
    const found = this.peek()
    if (text === ':' ? this.beginsOperand() : this.#comesAfter(found)) {
      this.report(found, `Syntax error: missing '${text}' at '${found.text}'`)
      return found
    }
    this.reportSyntax('mismatched', `'${text}'`)
    this.recover()
    return undefined
  }

  /** After an item of a list: true when it ends or goes on here. Else that is told. */
  expectNext(close: string): boolean {
    const ends = (ahead: number): boolean => this.is(close, ahead) || this.is(',', ahead)
    if (ends(0)) return true
    const expected = `{'${close}', ','}`
    return this.skipOne(() => ends(1), expected)
  }

  /** True when an operand begins here, if need be after a token too many. Else that is told. */
  expectOperand(expected: string, others: readonly string[] = []): boolean {
    const fits = (ahead: number): boolean =>
      this.beginsOperand(ahead) || others.some((text) => this.is(text, ahead))
    return fits(0) || this.skipOne(() => fits(1), expected)
  }

  /** What is here does not fit. True when what comes behind it does; else the reading goes on where it can. */
  skipOne(fits: (next: Token) => boolean, expected: string): boolean {
    if (this.#recovering || !fits(this.peek(1))) {
      this.reportSyntax('mismatched', expected)
      this.recover()
      return false
    }
    this.reportSyntax('extraneous', expected)
    this.#skip()
    this.#recovering = false
    return true
  }

  beginsOperand(ahead = 0): boolean {
    const { kind, text } = this.peek(ahead)
    if (kind === 'operator') return OPENING.has(text)
    if (kind === 'keyword') return text !== 'in'
    return kind !== 'end' && kind !== 'quoted'
  }

  /** Reads what one of `marks` ends. */
  within<T>(marks: readonly string[], read: () => T): T {
    this.#closing.push(marks)
    const result = read()
    this.#closing.pop()
    return result
  }

  /** Skips what cannot come after an operand here. Whoever comes to the same place again goes on behind it. */
  recover(): void {
    if (this.#recoveredAt === this.#next) this.#skip()
    this.#recoveredAt = this.#next
    while (!this.#comesAfter(this.peek())) this.#skip()
  }

  /** The expression has ended: what comes now is too much. */
  expectEnd(): void {
    if (this.peek().kind === 'end') return
    const isOne = this.peek(1).kind === 'end'
    this.reportSyntax(isOne ? 'extraneous' : 'mismatched', '<EOF>')
  }

  #skip(): Token {
    const token = this.peek()
    if (token.kind !== 'end') this.#next++
    return token
  }

  #comesAfter({ kind, text }: Token): boolean {
    if (kind === 'end') return true
    if (kind !== 'operator' && kind !== 'keyword') return false
    return AFTER_OPERANDS.has(text) || this.#closing.some((marks) => marks.includes(text))
  }
}
