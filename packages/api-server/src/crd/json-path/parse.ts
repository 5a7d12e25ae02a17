/**
 * Kubernetes' JSONPath as the server reads the paths of printer columns. It is a dialect: quoted keys are single-quoted and hold
 * steps of their own, `[0]` and `[*]` are slices, filters compare what stands on their two sides and know no `||`.
 * Contract: docs/behaviour/api-server/custom-resources.md, Tables.
 */
import { goUnquote } from '@gyropilot/schema/go-quote'

export interface Slice {
  readonly from: number | undefined
  /** Undefined: to the end of the list. */
  readonly to: number | undefined
  /** `to` is the place after the only one that is asked for. */
  readonly single: boolean
  readonly step: number | undefined
}

export type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'recursive' }
  | { readonly type: 'slice'; readonly slice: Slice }
  | { readonly type: 'union'; readonly branches: readonly Steps[] }
  | {
      readonly type: 'filter'
      readonly left: Steps
      readonly operator: string
      readonly right: Steps
    }
  | { readonly type: 'literal'; readonly value: string | number | bigint | boolean }
  /** A word that is no step: nothing comes of it. */
  | { readonly type: 'word' }

export type Steps = readonly Step[]

/** The steps of a path, and behind them those of other paths: `.a}{.b`. Undefined: it cannot be read. */
export type JsonPath = readonly [Steps, ...Steps[]]

/** Of a filter without a comparison: that the left side leads anywhere. */
export const EXISTS = 'exists'

export function parseJsonPath(path: string): JsonPath | undefined {
  try {
    return new Parser(`{${path}}`).actions()
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

class Unreadable extends Error {}

const TERMINATOR = /[ \t\r\n.,[\]$@{}]/
const WORD = /[\p{L}\p{Nd}_]/u
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+?)$/
const QUOTED_KEY = /^'([^']*)'$/
const SLICE = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/

/** Reads a text with paths in braces from left to right. */
class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  actions(): JsonPath {
    const actions: Steps[] = []
    // What stands between the braces is text, which no cell shows.
    for (;;) {
      const open = this.#text.indexOf('{', this.#at)
      if (open < 0) return actions as unknown as JsonPath
      this.#at = open + 1
      actions.push(this.#action())
    }
  }

  #action(): Steps {
    const steps: Step[] = []
    while (!this.#takes('}')) {
      const char = this.#text[this.#at]
      if (this.#takes('[?(')) steps.push(this.#filter())
      else if (this.#takes('..')) this.#descend(steps)
      else if (this.#takes('[')) steps.push(...this.#brackets())
      else if (this.#takes('.')) steps.push(this.#field())
      else if (char === '"' || char === "'") steps.push(this.#quoted(char))
      else if (char !== undefined && /[+\-\d]/.test(char)) steps.push(this.#number())
      else if (char !== undefined && WORD.test(char)) steps.push(this.#word())
      // The object itself.
      else if (!this.#takes(' ') && !this.#takes('@') && !this.#takes('$')) throw new Unreadable()
    }
    return steps
  }

  #takes(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #descend(steps: Step[]): void {
    if (steps.at(-1)?.type === 'recursive') throw new Unreadable()
    steps.push({ type: 'recursive' })
    if (WORD.test(this.#text[this.#at] ?? '')) steps.push(this.#field())
  }

  #until(isEnd: (char: string) => boolean): string {
    const start = this.#at
    while (this.#at < this.#text.length && !isEnd(this.#text[this.#at]!))
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    this.#at = Math.min(this.#at, this.#text.length)
    return this.#text.slice(start, this.#at)
  }

  #field(): Step {
    const name = this.#until((char) => TERMINATOR.test(char))
    return name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') }
  }

  #word(): Step {
    const start = this.#at
    while (this.#at < this.#text.length && !TERMINATOR.test(this.#text[this.#at]!)) this.#at++
    const word = this.#text.slice(start, this.#at)
    return word === 'true' || word === 'false'
      ? { type: 'literal', value: word === 'true' }
      : { type: 'word' }
  }

  #number(): Step {
    const [text] = /^[+-]?[.\d]*/.exec(this.#text.slice(this.#at))!
    this.#at += text.length
    if (/^[+-]?\d+$/.test(text)) return { type: 'literal', value: BigInt(text.replace('+', '')) }
    const value = Number(text)
    if (text === '' || Number.isNaN(value)) throw new Unreadable()
    return { type: 'literal', value }
  }

  #quoted(quote: string): Step {
    const start = this.#at++
    for (;;) {
      const char = this.#text[this.#at++]
      if (char === undefined || char === '\n') throw new Unreadable()
      if (char === quote && this.#text[this.#at - 2] !== '\\') break
    }
    return { type: 'literal', value: goUnquote(this.#text.slice(start, this.#at)) }
  }

  #brackets(): readonly Step[] {
    const end = this.#text.indexOf(']', this.#at)
    const text = this.#text.slice(this.#at, end)
    if (end < 0 || text.includes('\n')) throw new Unreadable()
    this.#at = end + 1
    const parts = text.split(',')
    if (parts.length > 1)
      return [{ type: 'union', branches: parts.map((part) => stepsOf(`[${trimSpaces(part)}]`)) }]
    const key = QUOTED_KEY.exec(text)
    if (key !== null) return stepsOf(`.${key[1]}`)
    return [{ type: 'slice', slice: sliceOf(text) }]
  }

  /** Quotes hide what would end it; one of them at the most. */
  #filter(): Step {
    const start = this.#at
    let quote: string | undefined
    let isClosed = false
    for (;;) {
      const char = this.#text[this.#at++]
      if (char === undefined || char === '\n') throw new Unreadable()
      if (char === '"' || char === "'") {
        if (quote === undefined) quote = char
        else if (char === quote && this.#text[this.#at - 2] !== '\\') isClosed = true
      } else if (char === ')' && (quote !== undefined) === isClosed) break
    }
    const text = this.#text.slice(start, this.#at - 1)
    if (!this.#takes(']')) throw new Unreadable()
    const [, left, operator, right] = COMPARISON.exec(text) ?? [text, text, EXISTS, '']
    return { type: 'filter', left: stepsOf(left!), operator: operator!, right: stepsOf(right!) }
  }
}

/** Only the first path of what stands there counts, but all have to be read. */
function stepsOf(path: string): Steps {
  return new Parser(`{${path}}`).actions()[0]
}

function trimSpaces(text: string): string {
  return text.replaceAll(/^ +| +$/g, '')
}

function sliceOf(text: string): Slice {
  const match = SLICE.exec(text === '*' ? ':' : text)
  if (match === null) throw new Unreadable()
  const [, first = '', second, third] = match
  const from = numberOf(first)
  return second === undefined
    ? { from, to: (from ?? 0) + 1, single: true, step: undefined }
    : { from, to: numberOf(second.slice(1)), single: false, step: numberOf(third?.slice(1) ?? '') }
}

function numberOf(text: string): number | undefined {
  if (text === '') return undefined
  const value = Number(text)
  if (Number.isNaN(value)) throw new Unreadable()
  return value
}
