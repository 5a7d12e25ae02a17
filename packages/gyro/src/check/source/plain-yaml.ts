/**
 * Reads the YAML that most manifests are written in, ten times faster than a reader of the whole language: maps and lists by indentation,
 * scalars on one line, literal blocks, lists and maps in brackets on one line. It answers undefined as soon as it meets anything else,
 * an error included: then the whole reader is asked. What it answers is what that one answers; the test compares them.
 */
import type { ParsedSource, RepeatedKey, SourceMember, SourceNode } from './source-node.ts'
import { plainScalar } from '@gyropilot/schema/yaml-scalar'

export function parsePlainYaml(text: string, offset: number): ParsedSource | undefined {
  // oxlint-disable-next-line no-control-regex -- tabs and the like are left to the whole reader
  if (/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]|^(?:\.\.\.|%)/m.test(text)) return undefined
  try {
    const reader = new Reader(linesOf(text), offset)
    return { root: reader.document(), repeatedKeys: reader.repeatedKeys }
  } catch (error) {
    if (error === BEYOND) return undefined
    throw error
  }
}

/** Thrown where the subset ends. */
const BEYOND = new Error('not plain')

interface Line {
  /** Spaces in front; what stands behind `- ` becomes a line of its own. */
  indent: number
  /** Without spaces in front and behind. */
  content: string
  /** Offset of the content. */
  start: number
  readonly raw: string
}

function linesOf(text: string): Line[] {
  let at = 0
  return text.split('\n').map((raw) => {
    const content = raw.trim()
    const indent = content === '' ? 0 : raw.length - raw.trimStart().length
    const line = { indent, content, start: at + indent, raw }
    at += raw.length + 1
    return line
  })
}

const KEY = /^(?:([\w.][\w./-]*)|"([^"\\]*)"|'([^']*)') *:(?= |$)/
const COMMENT = /^ +#/
const DOUBLE_QUOTED = /^"(?:[^"\\]|\\["\\/nrt])*"/
const SINGLE_QUOTED = /^'((?:[^']|'')*)'/
/** Letters and what is in names, paths and numbers: all else may mean something in brackets. */
const FLOW_PLAIN = /^(?:[\w./+]|-(?=[\w./]))[\w./+=-]*(?=[,\]} ])/
/** What a plain scalar may not begin with; `-`, `?` and `:` may where no space follows. */
const NO_PLAIN_START = /^(?:[[\]{},#&*!|>'"%@`]|[-?:](?: |$))/

class Reader {
  readonly repeatedKeys: RepeatedKey[] = []
  readonly #lines: Line[]
  readonly #offset: number
  #at = 0

  constructor(lines: Line[], offset: number) {
    this.#lines = lines
    this.#offset = offset
  }

  document(): SourceNode | undefined {
    const first = this.#next()
    if (first === undefined) return undefined
    if (!isItem(first) && !KEY.test(first.content)) throw BEYOND
    const root = this.#block(first.indent)
    if (this.#next() !== undefined) throw BEYOND
    return root
  }

  /** The next line that says something. */
  #next(): Line | undefined {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at]!
      if (line.content !== '' && !line.content.startsWith('#')) return line
    }
    return undefined
  }

  #block(indent: number): SourceNode {
    const first = this.#next()!
    return isItem(first) ? this.#list(indent) : this.#map(indent)
  }

  #map(indent: number): SourceNode {
    const members = new Map<string, SourceMember>()
    const start = this.#place(this.#next()!)
    const value: Record<string, unknown> = {}
    for (let line = this.#next(); line !== undefined; line = this.#next()) {
      if (line.indent < indent) break
      const [written, plain, double, single] = KEY.exec(line.content) ?? []
      if (line.indent > indent || written === undefined) throw BEYOND
      const key = plain === undefined ? (double ?? single)! : keyOf(plain)
      const keyStart = this.#place(line)
      if (members.has(key)) this.repeatedKeys.push({ key, start: keyStart })
      const node = this.#value(line, written.length, indent, true)
      members.set(key, { keyStart, node })
      // A field of this name is set, not inherited from.
      if (key === '__proto__') throw BEYOND
      value[key] = node.value
    }
    return { start, value, members }
  }

  #list(indent: number): SourceNode {
    const items: SourceNode[] = []
    const start = this.#place(this.#next()!)
    for (let line = this.#next(); line !== undefined; line = this.#next()) {
      if (line.indent < indent || (line.indent === indent && !isItem(line))) break
      if (line.indent > indent) throw BEYOND
      const spaces = /^ */.exec(line.content.slice(1))![0].length + 1
      const rest = line.content.slice(spaces)
      if (KEY.test(rest)) {
        line.content = rest
        line.indent += spaces
        line.start += spaces
        items.push(this.#map(line.indent))
      } else {
        if (isItem({ content: rest })) throw BEYOND
        items.push(this.#value(line, 1, indent, false))
      }
    }
    return { start, value: items.map(({ value }) => value), items }
  }

  /** What stands behind a key or a dash, on its line or below it. */
  #value(line: Line, from: number, indent: number, ofKey: boolean): SourceNode {
    const rest = line.content.slice(from)
    const text = COMMENT.test(rest) ? '' : rest.trimStart()
    const start = this.#place(line) + line.content.length - rest.trimStart().length
    this.#at++
    if (text === '') return this.#below(indent, ofKey) ?? { start, value: null }
    if (text.startsWith('|')) return { start, value: this.#literal(text, indent) }
    const flow = new Flow(text, start, this.repeatedKeys)
    const node = '[{"\''.includes(text[0]!) ? flow.whole() : flow.plainLine()
    const next = this.#next()
    // A scalar that goes on below, or what is nowhere allowed.
    if (next !== undefined && next.indent > indent) throw BEYOND
    return node
  }

  #below(indent: number, ofKey: boolean): SourceNode | undefined {
    const next = this.#next()
    if (next === undefined || next.indent < indent) return undefined
    if (next.indent === indent) return ofKey && isItem(next) ? this.#list(indent) : undefined
    if (!isItem(next) && !KEY.test(next.content)) throw BEYOND
    return this.#block(next.indent)
  }

  #literal(header: string, indent: number): string {
    const chomping = /^\|(-?)(?: +#.*)?$/.exec(header)
    if (chomping === null) throw BEYOND
    const texts: string[] = []
    let own = -1
    for (; this.#at < this.#lines.length; this.#at++) {
      const { raw, content } = this.#lines[this.#at]!
      const spaces = raw.length - raw.trimStart().length
      if (content === '') {
        // Spaces in lines before the first, or beyond the indentation, would count.
        if (own < 0 ? raw.length > 0 : raw.length > own) throw BEYOND
        texts.push('')
        continue
      }
      if (spaces <= indent) break
      if (own < 0) own = spaces
      if (spaces < own) throw BEYOND
      texts.push(raw.slice(own))
    }
    if (own < 0) throw BEYOND
    while (texts.at(-1) === '') texts.pop()
    return `${texts.join('\n')}${chomping[1] === '-' ? '' : '\n'}`
  }

  #place(line: Line): number {
    return this.#offset + line.start
  }
}

function isItem({ content }: Pick<Line, 'content'>): boolean {
  return content === '-' || content.startsWith('- ')
}

function keyOf(plain: string): string {
  const value = finite(plainScalar(plain))
  if (value === null) throw BEYOND
  return String(value)
}

/** Values in brackets and quotes, within one line. */
class Flow {
  readonly #text: string
  readonly #start: number
  readonly #repeated: RepeatedKey[]
  #at = 0

  constructor(text: string, start: number, repeated: RepeatedKey[]) {
    this.#text = text
    this.#start = start
    this.#repeated = repeated
  }

  /** With at most a comment behind it. */
  whole(): SourceNode {
    const node = this.#value()
    const rest = this.#text.slice(this.#at)
    if (rest.trim() !== '' && !COMMENT.test(rest)) throw BEYOND
    return node
  }

  /** A plain scalar up to the end of the line or a comment. */
  plainLine(): SourceNode {
    const comment = this.#text.indexOf(' #')
    const text = (comment < 0 ? this.#text : this.#text.slice(0, comment)).trimEnd()
    if (NO_PLAIN_START.test(text) || text.includes(': ') || text.endsWith(':')) throw BEYOND
    return { start: this.#start, value: finite(plainScalar(text)) }
  }

  #value(): SourceNode {
    const start = this.#start + this.#at
    switch (this.#text[this.#at]) {
      case '[':
        return this.#list(start)
      case '{':
        return this.#map(start)
      case '"':
        return { start, value: JSON.parse(this.#match(DOUBLE_QUOTED)[0]) as unknown }
      case "'":
        return { start, value: this.#match(SINGLE_QUOTED)[1]!.replaceAll("''", "'") }
      default:
        return {
          start,
          value: finite(plainScalar(this.#match(FLOW_PLAIN)[0])),
        }
    }
  }

  #list(start: number): SourceNode {
    const items: SourceNode[] = []
    this.#entries(']', () => items.push(this.#value()))
    return { start, value: items.map(({ value }) => value), items }
  }

  #map(start: number): SourceNode {
    const members = new Map<string, SourceMember>()
    this.#entries('}', () => {
      const keyStart = this.#start + this.#at
      const [written, plain, double, single] = this.#match(KEY)
      const key = plain === undefined ? (double ?? single)! : keyOf(plain)
      if (written.length === 0 || key === '__proto__') throw BEYOND
      if (members.has(key)) this.#repeated.push({ key, start: keyStart })
      this.#spaces()
      members.set(key, { keyStart, node: this.#value() })
    })
    const entries = [...members].map(([key, { node }]) => [key, node.value] as const)
    return { start, value: Object.fromEntries(entries), members }
  }

  #entries(end: string, read: () => void): void {
    this.#at++
    this.#spaces()
    while (this.#text[this.#at] !== end) {
      read()
      this.#spaces()
      if (this.#text[this.#at] === ',') this.#at++
      else if (this.#text[this.#at] !== end) throw BEYOND
      this.#spaces()
    }
    this.#at++
  }

  #spaces(): void {
    while (this.#text[this.#at] === ' ') this.#at++
  }

  #match(pattern: RegExp): RegExpExecArray {
    const found = pattern.exec(this.#text.slice(this.#at))
    if (found === null) throw BEYOND
    this.#at += found[0].length
    return found
  }
}

function finite(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw BEYOND
  return value
}
