/** The part of sh that people type into `kubectl exec`: words, quotes, variables, pipes, redirections, `;`, `&&`, `||`. */

/** Text, or the value of a variable (`?` is the last exit code); quoted values are not split into words. */
export type Part =
  | { readonly text: string }
  | { readonly variable: string; readonly quoted: boolean }

export type Word = readonly Part[]

export interface Redirection {
  readonly from: 0 | 1 | 2
  /** `&`: where the other output goes. */
  readonly mode: '<' | '>' | '>>' | '&'
  readonly target: Word
}

export interface SimpleCommand {
  readonly assignments: readonly { readonly name: string; readonly value: Word }[]
  readonly words: readonly Word[]
  readonly redirections: readonly Redirection[]
}

/** Commands joined by pipes, and when they run: always, or by the exit code before them. */
export interface Step {
  readonly when: ';' | '&&' | '||'
  readonly pipeline: readonly SimpleCommand[]
}

export class SyntaxProblem extends Error {}

type Token =
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
  ';',
  '\n',
  '&',
  '(',
  ')',
]
const WORDS_OF_SCRIPTS = new Set([
  'if',
  'then',
  'fi',
  'for',
  'while',
  'until',
  'do',
  'done',
  'case',
  'esac',
  'function',
  '{',
  '}',
])

export function parseScript(script: string): readonly Step[] {
  const tokens = tokensOf(script)
  const steps: Step[] = []
  let when: Step['when'] = ';'
  let pipeline: SimpleCommand[] = []
  let at = 0
  const finish = (): void => {
    if (pipeline.length > 0) steps.push({ when, pipeline })
    pipeline = []
  }
  while (at < tokens.length) {
    const token = tokens[at]!
    if (token.kind === 'word' || isRedirection(token.text)) {
      const [command, next] = commandAt(tokens, at)
      pipeline.push(command)
      at = next
      continue
    }
    at++
    if (token.text === '|') {
      if (pipeline.length === 0) throw new SyntaxProblem('syntax error: unexpected "|"')
      continue
    }
    if (token.text === '&' || token.text === '(' || token.text === ')')
      throw new SyntaxProblem(`syntax error: "${token.text}" is not known to simulated containers`)
    finish()
    when = token.text === '\n' ? ';' : (token.text as Step['when'])
  }
  finish()
  return steps
}

function isRedirection(text: string): boolean {
  return text.includes('>') || text === '<'
}

function commandAt(tokens: readonly Token[], start: number): [SimpleCommand, number] {
  const assignments: { name: string; value: Word }[] = []
  const words: Word[] = []
  const redirections: Redirection[] = []
  let at = start
  for (; at < tokens.length; at++) {
    const token = tokens[at]!
    if (token.kind === 'operator') {
      if (!isRedirection(token.text)) break
      if (token.text.includes('&')) {
        redirections.push({ from: token.text === '2>&1' ? 2 : 1, mode: '&', target: [] })
        continue
      }
      const target = tokens[++at]
      if (target?.kind !== 'word') throw new SyntaxProblem('syntax error: unexpected newline')
      redirections.push({
        from: token.text === '<' ? 0 : token.text.startsWith('2') ? 2 : 1,
        mode: token.text.replace(/^\d/, '') as Redirection['mode'],
        target: target.word,
      })
      continue
    }
    const assignment = words.length === 0 ? assignmentOf(token.word) : undefined
    if (assignment !== undefined) assignments.push(assignment)
    else words.push(token.word)
  }
  const first = words[0]?.[0]
  if (words[0]?.length === 1 && first && 'text' in first && WORDS_OF_SCRIPTS.has(first.text))
    throw new SyntaxProblem(`syntax error: "${first.text}" is not known to simulated containers`)
  return [{ assignments, words, redirections }, at]
}

function assignmentOf(word: Word): { name: string; value: Word } | undefined {
  const first = word[0]
  if (first === undefined || !('text' in first)) return undefined
  const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(first.text)
  if (match === null) return undefined
  return { name: match[1]!, value: [{ text: match[2]! }, ...word.slice(1)] }
}

function tokensOf(script: string): Token[] {
  const tokens: Token[] = []
  let word: Part[] | undefined
  let at = 0
  const append = (part: Part): void => {
    word ??= []
    const last = word.at(-1)
    if ('text' in part && last !== undefined && 'text' in last)
      word[word.length - 1] = { text: last.text + part.text }
    else word.push(part)
  }
  const endWord = (): void => {
    if (word !== undefined) tokens.push({ kind: 'word', word })
    word = undefined
  }
  const variable = (quoted: boolean): boolean => {
    const match = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*|[?$#]))/.exec(script.slice(at))
    if (match === null) return false
    append({ variable: match[1] ?? match[2]!, quoted })
    at += match[0].length
    return true
  }
  while (at < script.length) {
    const char = script[at]!
    if (char === '$' && script[at + 1] === '(')
      throw new SyntaxProblem('syntax error: "$(" is not known to simulated containers')
    if (char === '$' && variable(false)) continue
    if (char === "'") {
      const end = script.indexOf("'", at + 1)
      if (end === -1) throw new SyntaxProblem('syntax error: unterminated quoted string')
      append({ text: script.slice(at + 1, end) })
      at = end + 1
    } else if (char === '"') {
      append({ text: '' })
      for (at++; script[at] !== '"';) {
        if (at >= script.length) throw new SyntaxProblem('syntax error: unterminated quoted string')
        if (script[at] === '$' && variable(true)) continue
        const escaped = script[at] === '\\' && '"\\$`'.includes(script[at + 1] ?? ' ')
        append({ text: script[at + (escaped ? 1 : 0)]! })
        at += escaped ? 2 : 1
      }
      at++
    } else if (char === '\\') {
      append({ text: script[at + 1] ?? '' })
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
