/** A value as YAML, character for character as Kubernetes' writer breaks, quotes and sorts it. Loaded when a request first needs it. */
import { scalarText } from './yaml-scalars.ts'

/** Longer keys stand behind a question mark. */
const LONGEST_SIMPLE_KEY_BYTES = 128

/** Ends with a line break. */
export function formatYaml(value: unknown): string {
  const writer = new YamlWriter()
  writer.node(value, 0)
  return writer.ended()
}

function isEmpty(value: object): boolean {
  return Object.values(value).every((member) => member === undefined)
}

class YamlWriter {
  #out = ''
  /** Characters on the last line. */
  #column = 0

  ended(): string {
    return this.#column === 0 ? this.#out : `${this.#out}\n`
  }

  #write(text: string): void {
    this.#out += text
    const lastBreak = text.lastIndexOf('\n')
    const written = lastBreak < 0 ? text : text.slice(lastBreak + 1)
    this.#column = (lastBreak < 0 ? this.#column : 0) + [...written].length
  }

  #newLine(indent: number): void {
    this.#write((this.#column === 0 ? '' : '\n') + ' '.repeat(indent))
  }

  /** From where the writer stands; collections that are not empty go on with lines of this indent. */
  node(value: unknown, indent: number): void {
    if (typeof value !== 'object' || value === null) {
      // Scalars are indented as what stands in them would be.
      this.#write(scalarText(value, { column: this.#column, indent, isKey: false }))
    } else if (Array.isArray(value)) {
      if (value.length === 0) this.#write('[]')
      else this.#sequence(value, indent)
    } else if (isEmpty(value)) this.#write('{}')
    else this.#mapping(value as Readonly<Record<string, unknown>>, indent)
  }

  #sequence(items: readonly unknown[], indent: number): void {
    for (const [index, item] of items.entries()) {
      if (index > 0) this.#newLine(indent)
      this.#write('- ')
      this.node(item, indent + 2)
    }
  }

  #mapping(members: Readonly<Record<string, unknown>>, indent: number): void {
    const keys = Object.keys(members)
      .filter((key) => members[key] !== undefined)
      .toSorted(naturally)
    for (const [index, key] of keys.entries()) {
      if (index > 0) this.#newLine(indent)
      if (Buffer.byteLength(key) > LONGEST_SIMPLE_KEY_BYTES)
        this.#longMember(key, members[key], indent)
      else this.#member(key, members[key], indent)
    }
  }

  #member(key: string, value: unknown, indent: number): void {
    this.#write(`${scalarText(key, { column: 0, indent, isKey: true })}:`)
    const isBlock = typeof value === 'object' && value !== null && !isEmpty(value)
    // Lists stand below their keys, not further in.
    const inner = Array.isArray(value) ? indent : indent + 2
    if (isBlock) this.#newLine(inner)
    else this.#write(' ')
    this.node(value, inner)
  }

  #longMember(key: string, value: unknown, indent: number): void {
    this.#write('? ')
    this.node(key, indent + 2)
    this.#newLine(indent)
    this.#write(': ')
    this.node(value, indent + 2)
  }
}

const LETTER = /\p{L}/u

/** Letters behind everything else, numbers by their value. */
function naturally(a: string, b: string): number {
  const [left, right] = [[...a], [...b]]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x, y] = [left[i]!, right[i]!]
    if (x === y) continue
    const [isLetter, isOther] = [LETTER.test(x), LETTER.test(y)]
    if (isLetter && isOther) return byCodePoint(x, y)
    if (isLetter || isOther) return isOther ? -1 : 1
    const [digits, others] = [digitsFrom(left, i), digitsFrom(right, i)]
    // Zeros in the middle of a number count.
    const before = x === '0' || y === '0' ? middleOf(left, i) : ''
    const difference = BigInt(`${before}${digits}` || '0') - BigInt(`${before}${others}` || '0')
    if (difference !== 0n) return difference < 0n ? -1 : 1
    return digits.length - others.length || byCodePoint(x, y)
  }
  return left.length - right.length
}

function byCodePoint(a: string, b: string): number {
  return a.codePointAt(0)! - b.codePointAt(0)!
}

function digitsFrom(chars: readonly string[], start: number): string {
  let end = start
  while (end < chars.length && /\d/.test(chars[end]!)) end++
  return chars.slice(start, end).join('')
}

/** `1` when a digit other than zero stands before, in the same number. */
function middleOf(chars: readonly string[], at: number): string {
  for (let i = at - 1; i >= 0 && /\d/.test(chars[i]!); i--) if (chars[i] !== '0') return '1'
  return ''
}
