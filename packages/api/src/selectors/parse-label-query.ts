/** The string form of label selectors: `a=b,c in (d,e),!f,g>1`. Contract: docs/behaviour/api-server/requests.md, Label selectors. */
import type { LabelRequirement } from './label-query.ts'
import {
  InvalidSelectorError,
  LabelQuery,
  labelRequirement,
  qualifiedNameProblemsOf,
} from './label-query.ts'

type TokenKind = 'end' | 'word' | '!' | '=' | '==' | '!=' | '<' | '>' | '(' | ')' | ','

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

/** Throws InvalidSelectorError with the API server's text. The empty string selects everything. */
export function parseLabelQuery(text: string): LabelQuery {
  if (text === '') return LabelQuery.everything
  return LabelQuery.of(new Parser(tokensOf(text)).requirements())
}

const TOKEN = /[ \t\r\n]*(==|!=|[=!<>(),]|[^ \t\r\n=!<>(),]+)/y

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const found = match[1]!
    const kind = /^[=!<>(),]/.test(found) ? (found as TokenKind) : 'word'
    tokens.push({ kind, text: found })
  }
  return tokens
}

const END: Token = { kind: 'end', text: '' }

class Parser {
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  requirements(): readonly LabelRequirement[] {
    const found: LabelRequirement[] = []
    if (this.#peek().kind === 'end') return found
    for (;;) {
      const first = this.#peek()
      if (first.kind !== 'word' && first.kind !== '!') {
        throw unexpected(first, "!, identifier, or 'end of string'")
      }
      found.push(this.#requirement())
      const separator = this.#next()
      if (separator.kind === 'end') return found
      if (separator.kind !== ',') throw unexpected(separator, "',' or 'end of string'")
      const following = this.#peek()
      if (following.kind !== 'word' && following.kind !== '!') {
        throw unexpected(following, "identifier after ','")
      }
    }
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? END
  }

  #next(): Token {
    return this.#tokens[this.#position++] ?? END
  }

  #requirement(): LabelRequirement {
    try {
      return this.#checkedRequirement()
    } catch (error) {
      if (!(error instanceof InvalidSelectorError)) throw error
      throw new InvalidSelectorError(`unable to parse requirement: ${error.message}`)
    }
  }

  #checkedRequirement(): LabelRequirement {
    const negated = this.#peek().kind === '!'
    if (negated) this.#next()
    const key = this.#next()
    if (key.kind !== 'word') throw unexpected(key, 'identifier')
    // The key is checked without a field, which shows in the message.
    const [problem] = qualifiedNameProblemsOf('<nil>', key.text)
    if (problem !== undefined) throw new InvalidSelectorError(problem)
    if (negated) return labelRequirement(key.text, '!', [])
    const following = this.#peek()
    if (following.kind === 'end' || following.kind === ',') {
      return labelRequirement(key.text, 'exists', [])
    }
    const operator = this.#next()
    switch (operator.kind) {
      case '=':
      case '==':
      case '!=':
        return labelRequirement(key.text, operator.kind, [this.#exactValue()])
      case '>':
      case '<':
        return labelRequirement(key.text, operator.kind === '>' ? 'gt' : 'lt', [this.#exactValue()])
      default:
        if (operator.text === 'in' || operator.text === 'notin') {
          return labelRequirement(key.text, operator.text, this.#valueSet())
        }
        throw unexpected(operator, 'in, notin, =, ==, !=, gt, lt')
    }
  }

  #exactValue(): string {
    const following = this.#peek()
    if (following.kind === 'end' || following.kind === ',') return ''
    const value = this.#next()
    if (value.kind !== 'word') throw unexpected(value, 'identifier')
    return value.text
  }

  /** `(a,b)`. An empty place between commas is the empty string, and so is the only place of `()`. */
  #valueSet(): readonly string[] {
    const open = this.#next()
    if (open.kind !== '(') throw new InvalidSelectorError(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.kind === ')') {
      this.#next()
      return ['']
    }
    if (first.kind !== 'word' && first.kind !== ',')
      throw unexpected(first, "',', ')' or identifier")
    const values: string[] = []
    for (;;) {
      const value = this.#next()
      if (value.kind === ',') {
        values.push('')
        if (this.#peek().kind === ')') values.push('')
      } else if (value.kind === 'word') {
        values.push(value.text)
        const separator = this.#peek()
        if (separator.kind !== ',' && separator.kind !== ')')
          throw unexpected(separator, "',' or ')'")
        if (separator.kind === ',') this.#position++
        if (separator.kind === ',' && this.#peek().kind === ')') values.push('')
      } else {
        throw unexpected(value, "',', or identifier")
      }
      if (this.#peek().kind === ')') {
        this.#next()
        return values
      }
    }
  }
}

function unexpected(token: Token, expected: string): InvalidSelectorError {
  return new InvalidSelectorError(`found '${token.text}', expected: ${expected}`)
}
