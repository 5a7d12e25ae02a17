/**
 * Field selectors: `metadata.name=a,status.phase!=Running`. Which fields a kind has is not known here.
 * Contract: docs/behaviour/api-server/requests.md, Field selectors.
 */
import { compareStrings } from '@gyropilot/foundation'
import { InvalidSelectorError } from './label-query.ts'

export interface FieldTerm {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

export class FieldQuery {
  static readonly everything: FieldQuery = new FieldQuery([])

  readonly terms: readonly FieldTerm[]

  constructor(terms: readonly FieldTerm[]) {
    this.terms = terms
  }

  get matchesEverything(): boolean {
    return this.terms.length === 0
  }

  /** `valueOf` answers a field's value as text; absent counts as the empty string. */
  matches(valueOf: (field: string) => string | undefined): boolean {
    for (const { field, operator, value } of this.terms) {
      const equal = (valueOf(field) ?? '') === value
      if (equal !== (operator === '=')) return false
    }
    return true
  }

  /** The value that a field must have, when the query pins it. */
  pinned(field: string): string | undefined {
    return this.terms.find((term) => term.field === field && term.operator === '=')?.value
  }

  toString(): string {
    return this.terms
      .map(({ field, operator, value }) => field + operator + escapeFieldValue(value))
      .join(',')
  }
}

export function escapeFieldValue(value: string): string {
  return value.replaceAll(/[\\,=]/g, '\\$&')
}

/** Throws InvalidSelectorError with the API server's text. */
export function parseFieldQuery(text: string): FieldQuery {
  const terms: FieldTerm[] = []
  // What is wrong is told of the first term in this order.
  for (const part of splitTerms(text).toSorted(compareStrings)) {
    if (part === '') continue
    const match = TERM.exec(part)
    if (match === null) {
      throw new InvalidSelectorError(`invalid selector: '${text}'; can't understand '${part}'`)
    }
    const [, field = '', operator, value = ''] = match
    // No field that has to be empty, or must not be: nothing is asked.
    if (field === '' && value === '') continue
    terms.push({ field, operator: operator === '!=' ? '!=' : '=', value: unescape(value) })
  }
  return terms.length === 0 ? FieldQuery.everything : new FieldQuery(terms)
}

/** The first operator splits; what follows is the value, up to the end. */
const TERM = /^(.*?)(!=|==|=)(.*)$/s

/** Splits at commas that have no backslash in front. */
function splitTerms(text: string): readonly string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') {
      i++
    } else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  return [...terms, text.slice(start)]
}

function unescape(value: string): string {
  if (!/[\\,=]/.test(value)) return value
  let result = ''
  let escaped = false
  for (const character of value) {
    if (escaped) {
      if (!'\\,='.includes(character)) throw badEscape(`\\${character}`)
      result += character
      escaped = false
    } else if (character === '\\') {
      escaped = true
    } else if (character === ',' || character === '=') {
      // The server prints the code of the character, not the character.
      throw new InvalidSelectorError(
        `invalid field selector: unescaped character in value: ${character.codePointAt(0)}`,
      )
    } else {
      result += character
    }
  }
  if (escaped) throw badEscape('\\')
  return result
}

function badEscape(sequence: string): InvalidSelectorError {
  return new InvalidSelectorError(`invalid field selector: invalid escape sequence: ${sequence}`)
}
