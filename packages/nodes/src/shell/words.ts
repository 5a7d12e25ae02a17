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
  const tokens: Token[] = []
  let word: Part[] | undefined
  let at = 0
  const append = (part: Part): void => {
    word ??= []
    const last = word.at(-1)
    const isOne =
      last !== undefined && 'text' in last && 'text' in part && last.quoted === part.quoted
    if (isOne) word[word.length - 1] = { ...last, text: last.text + part.text }
    else word.push(part)
  }
  const endWord = (): void => {
    if (word !== undefined) tokens.push({ kind: 'word', word })
    word = undefined
  }
  const substituted = (quoted: boolean): boolean => {
    const found = substitutionAt(script, at, quoted, parse)
    if (found === undefined) return false
    append(found.part)
    at = found.end
    return true
  }
  while (at < script.length) {
    const char = script[at]!
    if ((char === '$' || char === '`') && substituted(false)) continue
    if (char === "'") {
      const end = script.indexOf("'", at + 1)
      if (end === -1) throw new SyntaxProblem('syntax error: unterminated quoted string')
      append({ text: script.slice(at + 1, end), quoted: true })
      at = end + 1
    } else if (char === '"') {
      append({ text: '', quoted: true })
      for (at++; script[at] !== '"';) {
        if (at >= script.length) throw new SyntaxProblem('syntax error: unterminated quoted string')
        if ((script[at] === '$' || script[at] === '`') && substituted(true)) continue
        const escaped = script[at] === '\\' && '"\\$`'.includes(script[at + 1] ?? ' ')
        append({ text: script[at + (escaped ? 1 : 0)]!, quoted: true })
        at += escaped ? 2 : 1
      }
      at++
    } else if (char === '\\') {
      append({ text: script[at + 1] ?? '', quoted: true })
      at += 2
    } else if (char === '#' && word === undefined) {
      const end = script.indexOf('\n', at)
      at = end === -1 ? script.length : end
    } else if (char === ' ' || char === '\t') {
      endWord()
      at++
    } else {
      const operator = operatorAt(script, at, word === undefined)
      if (operator === undefined) {
        append({ text: char })
        at++
      } else {
        endWord()
        tokens.push({ kind: 'operator', text: operator })
        at += operator.length
      }
    }
  }
  endWord()
  return tokens
}

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
