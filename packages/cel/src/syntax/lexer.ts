/** Cuts an expression into tokens. https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax */
import type { Problem } from './source.ts'

export interface Token {
  readonly kind:
    | 'identifier'
    /** A name in backticks. */
    | 'quoted'
    | 'int'
    | 'uint'
    | 'double'
    | 'string'
    | 'bytes'
    | 'operator'
    | 'keyword'
    | 'end'
  /** As written; of strings and bytes with their quotes. */
  readonly text: string
  readonly offset: number
  /** Of strings and bytes: what they stand for. Bytes are given one per character. */
  readonly content?: string
}

/** Names that an expression may not use. */
export const RESERVED = new Set([
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
])
const KEYWORDS = new Set(['true', 'false', 'null', 'in'])
const SPACE = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const NUMBER =
  /(?<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(?<int>0x[0-9a-fA-F]+|\d+)(?<unsigned>[uU])?/y
const QUOTED = /`[-\w./ ]+`/y
const OPERATOR = /==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()[\]{}]/y
const QUOTE = /(?<prefix>[rR]?[bB]?|[bB][rR])(?<quote>"""|'''|"|')/y
const ESCAPE =
  /\\(?:(?<simple>[abfnrtv"'\\?`])|x(?<x>[0-9a-fA-F]{2})|X(?<bigX>[0-9a-fA-F]{2})|u(?<u>[0-9a-fA-F]{4})|U(?<bigU>[0-9a-fA-F]{8})|(?<octal>[0-3][0-7]{2}))/y
const HALF_ESCAPE = String.raw`\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?[^]?`
const UNRECOGNIZED = new RegExp(
  `(["'])(?:(?!\\1)[^\\\\\n\r]|${ESCAPE.source})*(?:${HALF_ESCAPE}|[\n\r])?|=[^=]?|&[^&]?|\\|[^|]?|\`[-\\w./ ]*[^]?|.`,
  'suy',
)

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** `problems`: of characters that begin no token. They are left out. */
export function tokenize(text: string): { tokens: Token[]; problems: Problem[] } {
  const tokens: Token[] = []
  const problems: Problem[] = []
  let offset = 0
  for (;;) {
    offset += matchAt(SPACE, text, offset)![0].length
    if (offset >= text.length) break
    const token = stringAt(text, offset) ?? wordAt(text, offset)
    if (token === undefined) {
      const rest = unrecognized(text, offset)
      problems.push({
        offset,
        message: `Syntax error: token recognition error at: '${rest}'`,
      })
      offset += rest.length
      continue
    }
    tokens.push(token)
    offset += token.text.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: text.length })
  return { tokens, problems }
}

/** What begins no token, with the character that shows it: an open text, half of an operator, a broken quotation of a name. */
function unrecognized(text: string, offset: number): string {
  return matchAt(UNRECOGNIZED, text, offset)![0]
}

function matchAt(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset
  return pattern.exec(text)
}

function wordAt(text: string, offset: number): Token | undefined {
  const number = matchAt(NUMBER, text, offset)
  // A dot before a digit is a selection after an operand, which has no names of digits: always a number.
  if (number !== null) {
    const kind =
      number.groups!['double'] !== undefined
        ? 'double'
        : number.groups!['unsigned'] !== undefined
          ? 'uint'
          : 'int'
    return { kind, text: number[0], offset }
  }
  const name = matchAt(NAME, text, offset)
  if (name !== null)
    return { kind: KEYWORDS.has(name[0]) ? 'keyword' : 'identifier', text: name[0], offset }
  const quoted = matchAt(QUOTED, text, offset)
  if (quoted !== null) return { kind: 'quoted', text: quoted[0], offset }
  const operator = matchAt(OPERATOR, text, offset)
  return operator === null ? undefined : { kind: 'operator', text: operator[0], offset }
}

function stringAt(text: string, offset: number): Token | undefined {
  const opening = matchAt(QUOTE, text, offset)
  if (opening === null) return undefined
  const { prefix = '', quote = '' } = opening.groups!
  const long = quotedAt(text, offset, prefix, quote)
  // Three quotes without an end are an empty text and the beginning of another.
  return long ?? (quote.length === 3 ? quotedAt(text, offset, prefix, quote[0]!) : undefined)
}

function quotedAt(text: string, offset: number, prefix: string, quote: string): Token | undefined {
  const raw = /r/i.test(prefix)
  const bytes = /b/i.test(prefix)
  let at = offset + prefix.length + quote.length
  let content = ''
  while (!text.startsWith(quote, at)) {
    if (at >= text.length) return undefined
    const character = String.fromCodePoint(text.codePointAt(at)!)
    if (quote.length === 1 && (character === '\n' || character === '\r')) return undefined
    // In a raw string a backslash is a character like others, also before a quote.
    if (character === '\\' && !raw) {
      const escape = matchAt(ESCAPE, text, at)
      if (escape === null) return undefined
      content += unescape(escape.groups!, bytes)
      at += escape[0].length
    } else {
      content += bytes ? Buffer.from(character).toString('latin1') : character
      at += character.length
    }
  }
  const end = at + quote.length
  return { kind: bytes ? 'bytes' : 'string', text: text.slice(offset, end), offset, content }
}

function unescape(groups: Record<string, string | undefined>, bytes: boolean): string {
  const { simple, x, bigX, u, bigU, octal } = groups
  if (simple !== undefined) return SIMPLE[simple] ?? simple
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
  const hexadecimal = x ?? bigX
  if (hexadecimal !== undefined) return String.fromCharCode(Number.parseInt(hexadecimal, 16))
  const code = Number.parseInt((u ?? bigU)!, 16)
  const character = code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
  return bytes ? Buffer.from(character).toString('latin1') : character
}
