/** Words of sh: quotes, variables, `$( )` and `$(( ))`, and the operators between them. */
import { endsWith, hereDocumentAt, textAt, textOf } from './here-documents.ts'
import type { HereDocument } from './here-documents.ts'
import { closingParenthesis } from './parentheses.ts'
import type { Asked, Part, Step, Word } from './script.ts'
import { SyntaxProblem, Unfinished } from './syntax-problem.ts'

export type Token =
  | { readonly kind: 'word'; readonly word: Word }
  | {
      readonly kind: 'operator'
      readonly text: string
      /** The here document that it asks for. */
      readonly document?: { readonly text: Word }
    }

interface Reading {
  /** Nothing follows. Otherwise what is not at its end throws Unfinished. */
  readonly isAll: boolean
  readonly isDash: boolean
  /** Scripts within `$( )`. */
  parse(script: string): readonly Step[]
}

/** bash and busybox have them; to dash they are an ampersand and a redirection. */
const BOTH = ['&>>', '&>']
const OPERATORS = [
  ...BOTH,
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
  '<<-',
  '<<',
  '<',
  '|',
  ';;',
  ';',
  '\n',
  '&',
  '(',
  ')',
]

/** Throws SyntaxProblem. */
export function tokensOf(script: string, reading: Reading): readonly Token[] {
  return new Lexer(script, reading).tokens()
}

class Lexer {
  readonly #script: string
  readonly #reading: Reading
  readonly #tokens: Token[] = []
  /** Their texts begin at the next line. */
  #documents: { readonly of: HereDocument; readonly text: Part[] }[] = []
  #word: Part[] | undefined
  #at = 0

  constructor(script: string, reading: Reading) {
    this.#script = script
    this.#reading = reading
  }

  tokens(): readonly Token[] {
    while (this.#at < this.#script.length) this.#next()
    this.#endWord()
    this.#takeDocuments()
    return this.#tokens
  }

  /** Of a here document: variables and the like have their meaning, quotes do not. */
  text(): readonly Part[] {
    while (this.#at < this.#script.length) this.#quotedPiece('\\$`')
    return this.#word ?? []
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
    const operator = operatorAt(this.#script, this.#at, this.#word === undefined, this.#reading)
    if (operator === undefined) {
      this.#append({ text: char })
      this.#at++
      return
    }
    this.#endWord()
    if (operator.startsWith('<<')) {
      this.#askForDocument(operator)
      return
    }
    this.#tokens.push({ kind: 'operator', text: operator })
    this.#at += operator.length
    if (operator === '\n') this.#takeDocuments()
  }

  #askForDocument(operator: string): void {
    const document = hereDocumentAt(this.#script, this.#at)
    if (document === undefined)
      throw new SyntaxProblem(`syntax error: "${operator}" without a word behind it`)
    const text: Part[] = []
    this.#documents.push({ of: document, text })
    this.#tokens.push({ kind: 'operator', text: '<<', document: { text } })
    this.#at = document.end
  }

  /** At the beginning of a line, or at the end of the script. */
  #takeDocuments(): void {
    for (const { of, text } of this.#documents.splice(0)) {
      const found = textAt(of, this.#script, this.#at)
      if (found === undefined && !this.#reading.isAll)
        throw new Unfinished(`syntax error: here document without "${of.delimiter}"`, (line) =>
          endsWith(of, line),
        )
      // As dash and busybox have it, it ends with the script.
      const { text: lines, end } = found ?? {
        text: textOf(of, this.#script.slice(this.#at)),
        end: this.#script.length,
      }
      this.#at = end
      if (of.isQuoted) text.push({ text: lines, quoted: true })
      else text.push(...new Lexer(lines, { ...this.#reading, isAll: true }).text())
    }
  }

  #singleQuoted(): void {
    const end = this.#script.indexOf("'", this.#at + 1)
    if (end === -1) throw unterminatedQuote("'")
    this.#append({ text: this.#script.slice(this.#at + 1, end), quoted: true })
    this.#at = end + 1
  }

  #doubleQuoted(): void {
    this.#append({ text: '', quoted: true })
    for (this.#at++; this.#script[this.#at] !== '"';) {
      if (this.#at >= this.#script.length) throw unterminatedQuote('"')
      this.#quotedPiece('"\\$`')
    }
    this.#at++
  }

  /** A backslash takes only some characters as they are. */
  #quotedPiece(escapable: string): void {
    if (this.#skipContinuation() || this.#substitution(true)) return
    PLAIN.lastIndex = this.#at
    const [plain] = PLAIN.exec(this.#script) ?? []
    const isEscaped =
      this.#script[this.#at] === '\\' && escapable.includes(this.#script[this.#at + 1] ?? ' ')
    const text = plain ?? this.#script[this.#at + (isEscaped ? 1 : 0)]!
    this.#append({ text, quoted: true })
    this.#at += isEscaped ? 2 : text.length
  }

  /** A line that ends with a backslash goes on in the next as if there was no break. */
  #skipContinuation(): boolean {
    if (!this.#script.startsWith(CONTINUATION, this.#at)) return false
    this.#at += CONTINUATION.length
    if (this.#at >= this.#script.length && !this.#reading.isAll)
      throw new Unfinished('syntax error: unexpected end of file')
    return true
  }

  #substitution(quoted: boolean): boolean {
    const found = substitutionAt(this.#script, this.#at, quoted, this.#reading)
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
/** Within double quotes and here documents. */
const PLAIN = /[^\\$`"]+/y

function unterminatedQuote(quote: string): Unfinished {
  return Unfinished.until(quote, 'syntax error: unterminated quoted string')
}

/** A digit belongs to a redirection only at the start of a word. */
function operatorAt(
  script: string,
  at: number,
  atWordStart: boolean,
  { isDash }: Reading,
): string | undefined {
  return OPERATORS.find(
    (operator) =>
      script.startsWith(operator, at) &&
      (atWordStart || !/^\d/.test(operator)) &&
      !(isDash && BOTH.includes(operator)),
  )
}

const VARIABLE =
  /^\$(?:\{([A-Za-z_]\w*|\d+|[@*#])(?:(:?)([-+?])([^}$`"']*))?\}|([A-Za-z_]\w*|[\d@*?$#!]))/

/** What a dollar sign or a backtick begins, and where that ends; undefined: it is a dollar sign. */
function substitutionAt(
  script: string,
  at: number,
  quoted: boolean,
  { parse }: Reading,
): { readonly part: Part; readonly end: number } | undefined {
  if (script[at] !== '$' && script[at] !== '`') return undefined
  // The older form of `$( )`.
  if (script[at] === '`') {
    const [whole, inner = ''] = /^`((?:[^`\\]|\\.)*)`/s.exec(script.slice(at)) ?? []
    if (whole === undefined) throw Unfinished.until('`', 'syntax error: unterminated "`"')
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
