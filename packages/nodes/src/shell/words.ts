/** Words of sh: quotes, variables, `$( )` and `$(( ))`, and the operators between them. */
import type { Asked, Part, Step, Word } from './script.ts'

export class SyntaxProblem extends Error {}

export type Token =
  | { readonly kind: 'word'; readonly word: Word }
  | { readonly kind: 'operator'; readonly text: string }

const OPERATORS = [
  '2>&1',
  '1>&2',
  '>&2',
  '2>>',
  '2>',
  '1>',
  '&&',
  '||',
  '>>',
  '>',
  '<',
  '|',
  ';;',
  ';',
  '\n',
  '&',
  '(',
  ')',
]

/** `parse`: of the scripts within `$( )`. Throws SyntaxProblem. */
export function tokensOf(
  script: string,
  parse: (script: string) => readonly Step[],
): readonly Token[] {
  return new Lexer(script, parse).tokens()
}

class Lexer {
  readonly #script: string
  readonly #parse: (script: string) => readonly Step[]
  readonly #tokens: Token[] = []
  #word: Part[] | undefined
  #at = 0

  constructor(script: string, parse: (script: string) => readonly Step[]) {
    this.#script = script
    this.#parse = parse
  }

  tokens(): readonly Token[] {
    while (this.#at < this.#script.length) this.#next()
    this.#endWord()
    return this.#tokens
  }

  #next(): void {
    const char = this.#script[this.#at]!
    if (this.#skipContinuation() || this.#substitution(false)) return
    if (char === "'") this.#singleQuoted()
    else if (char === '"') this.#doubleQuoted()
    else if (char === '\\') {
      this.#append({ text: this.#script[this.#at + 1] ?? char, quoted: true })
      this.#at += 2
    } else if (char === '#' && this.#word === undefined) {
      const end = this.#script.indexOf('\n', this.#at)
      this.#at = end === -1 ? this.#script.length : end
    } else if (char === ' ' || char === '\t') {
      this.#endWord()
      this.#at++
    } else this.#operatorOrText(char)
  }

  #operatorOrText(char: string): void {
    const operator = operatorAt(this.#script, this.#at, this.#word === undefined)
    if (operator === undefined) {
      this.#append({ text: char })
      this.#at++
    } else {
      this.#endWord()
      this.#tokens.push({ kind: 'operator', text: operator })
      this.#at += operator.length
    }
  }

  #singleQuoted(): void {
    const end = this.#script.indexOf("'", this.#at + 1)
    if (end === -1) throw new SyntaxProblem('syntax error: unterminated quoted string')
    this.#append({ text: this.#script.slice(this.#at + 1, end), quoted: true })
    this.#at = end + 1
  }

  #doubleQuoted(): void {
    const script = this.#script
    this.#append({ text: '', quoted: true })
    for (this.#at++; script[this.#at] !== '"';) {
      if (this.#at >= script.length)
        throw new SyntaxProblem('syntax error: unterminated quoted string')
      if (this.#skipContinuation() || this.#substitution(true)) continue
      const escaped = script[this.#at] === '\\' && '"\\$`'.includes(script[this.#at + 1] ?? ' ')
      this.#append({ text: script[this.#at + (escaped ? 1 : 0)]!, quoted: true })
      this.#at += escaped ? 2 : 1
    }
    this.#at++
  }

  /** A line that ends with a backslash goes on in the next as if there was no break. */
  #skipContinuation(): boolean {
    if (!this.#script.startsWith(CONTINUATION, this.#at)) return false
    this.#at += CONTINUATION.length
    return true
  }

  #substitution(quoted: boolean): boolean {
    const found = substitutionAt(this.#script, this.#at, quoted, this.#parse)
    if (found === undefined) return false
    this.#append(found.part)
    this.#at = found.end
    return true
  }

  #append(part: Part): void {
    this.#word ??= []
    const last = this.#word.at(-1)
    const isOne =
      last !== undefined && 'text' in last && 'text' in part && last.quoted === part.quoted
    if (isOne) this.#word[this.#word.length - 1] = { ...last, text: last.text + part.text }
    else this.#word.push(part)
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#tokens.push({ kind: 'word', word: this.#word })
    this.#word = undefined
  }
}

const CONTINUATION = '\\\n'

/** A digit belongs to a redirection only at the start of a word. */
function operatorAt(script: string, at: number, atWordStart: boolean): string | undefined {
  return OPERATORS.find(
    (operator) => script.startsWith(operator, at) && (atWordStart || !/^\d/.test(operator)),
  )
}

const VARIABLE =
  /^\$(?:\{([A-Za-z_]\w*|\d+|[@*#])(?:(:?)([-+?])([^}$`"']*))?\}|([A-Za-z_]\w*|[\d@*?$#!]))/

/** What a dollar sign or a backtick begins, and where that ends; undefined: it is a dollar sign. */
function substitutionAt(
  script: string,
  at: number,
  quoted: boolean,
  parse: (script: string) => readonly Step[],
): { readonly part: Part; readonly end: number } | undefined {
  if (script[at] !== '$' && script[at] !== '`') return undefined
  // The older form of `$( )`.
  if (script[at] === '`') {
    const [whole, inner = ''] = /^`((?:[^`\\]|\\.)*)`/s.exec(script.slice(at)) ?? []
    if (whole === undefined) throw new SyntaxProblem('syntax error: unterminated "`"')
    const part = { script: parse(inner.replaceAll(/\\([`$\\])/g, '$1')), quoted }
    return { part, end: at + whole.length }
  }
  if (script.startsWith('$((', at)) {
    const end = closingParenthesis(script, at + 1)
    if (script[end - 1] === ')')
      return { part: { sum: script.slice(at + 3, end - 1), quoted }, end: end + 1 }
  }
  if (script.startsWith('$(', at)) {
    const end = closingParenthesis(script, at + 1)
    return { part: { script: parse(script.slice(at + 2, end)), quoted }, end: end + 1 }
  }
  if (script.startsWith('${', at) && !VARIABLE.test(script.slice(at)))
    throw new SyntaxProblem(
      `syntax error: "${script.slice(at, at + 12)}" is not known to simulated containers`,
    )
  const match = VARIABLE.exec(script.slice(at))
  if (match === null) return undefined
  const [whole, braced, colon, operator, text = '', bare] = match
  const variable = braced ?? bare!
  const asked = { operator: operator as Asked['operator'], text, emptyIsNone: colon === ':' }
  const part = { variable, quoted, ...(operator === undefined ? {} : { asked }) }
  return { part, end: at + whole.length }
}

/** Of the parenthesis at `open`; those within quotes do not count. */
function closingParenthesis(script: string, open: number): number {
  let depth = 0
  let quote = ''
  for (let at = open; at < script.length; at++) {
    const char = script[at]!
    if (char === '\\' && quote !== "'") at++
    else if (quote !== '') quote = char === quote ? '' : quote
    else if (char === "'" || char === '"') quote = char
    else if (char === '(') depth++
    else if (char === ')' && --depth === 0) return at
  }
  throw new SyntaxProblem('syntax error: unterminated "$("')
}
