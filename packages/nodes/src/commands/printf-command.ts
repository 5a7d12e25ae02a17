/** `printf`, as POSIX has it: the format is used again for as long as there are arguments. */
import type { Command } from '../shell/process.ts'

const ESCAPE = /\\(?:0?[0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)/gs
/** Of a format: an escape, or a directive with flags, width, precision and letter. */
const PIECE =
  /%([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?([bcdiouxXsfFeE%])|\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)/gs
const RADIX: Readonly<Record<string, number>> = { o: 8, x: 16 }
const PREFIX: Readonly<Record<string, string>> = { o: '0', x: '0x' }
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}
/** What a width or precision may ask for. */
const MOST_CHARS = 65_536

/** Its arguments in turn; those that are missing are empty, and 0. */
class Arguments {
  readonly #given: readonly string[]
  readonly problems: string[] = []
  usedCount = 0

  constructor(given: readonly string[]) {
    this.#given = given
  }

  get areLeft(): boolean {
    return this.usedCount < this.#given.length
  }

  text(): string {
    return this.#given[this.usedCount++] ?? ''
  }

  /** Decimal, octal or hexadecimal as C has it, or the code of a character after a quote. */
  number(): number {
    const text = this.text()
    if (/^["']/.test(text)) return text.codePointAt(1) ?? 0
    const [, sign, digits] =
      /^\s*([-+]?)(0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?)$/.exec(text === '' ? '0' : text) ?? []
    if (digits === undefined) this.problems.push(`invalid number '${text}'`)
    const value = /^0[0-7]+$/.test(digits ?? '') ? parseInt(digits!, 8) : Number(digits ?? 0)
    return sign === '-' ? -value : value
  }
}

export const printf: Command = async ({ args: [format, ...given], out, err }) => {
  if (format === undefined) {
    await err('usage: printf FORMAT [ARGUMENT]...\n')
    return 2
  }
  const values = new Arguments(given)
  let before: number
  do {
    before = values.usedCount
    const { text, isEnd } = filled(format, values)
    await out(text)
    if (isEnd) break
  } while (values.areLeft && values.usedCount > before)
  for (const problem of values.problems) await err(`printf: ${problem}\n`)
  return values.problems.length === 0 ? 0 : 1
}

/** `isEnd`: a `\c` ends all output. */
function filled(format: string, values: Arguments): { text: string; isEnd: boolean } {
  let text = ''
  let at = 0
  for (const match of format.matchAll(PIECE)) {
    text += format.slice(at, match.index)
    at = match.index + match[0].length
    const [all, flags = '', width = '', precision, letter] = match
    if (letter === undefined) {
      if (all === '\\c') return { text, isEnd: true }
      text += unescaped(all)
    } else if (letter === '%') {
      text += '%'
    } else {
      const count = (given: string): number =>
        Math.min(MOST_CHARS, given === '*' ? values.number() : Number(given))
      const wide = count(width)
      const exact = precision === undefined ? undefined : Math.max(0, count(precision))
      const { value, isEnd } = converted(letter, flags, exact, values)
      text += padded(value, flags + (wide < 0 ? '-' : ''), Math.abs(wide), letter, exact)
      if (isEnd) return { text, isEnd }
    }
  }
  return { text: text + format.slice(at), isEnd: false }
}

function converted(
  letter: string,
  flags: string,
  precision: number | undefined,
  values: Arguments,
): { value: string; isEnd?: boolean } {
  if (letter === 's') return { value: values.text().slice(0, precision) }
  if (letter === 'c') return { value: values.text().slice(0, 1) }
  if (letter === 'b') return expanded(values.text())
  const number = values.number()
  const sign = number < 0 ? '-' : /\+/.test(flags) ? '+' : / /.test(flags) ? ' ' : ''
  if (/[fFeE]/.test(letter)) {
    const size = Math.abs(number)
    const places = Math.min(precision ?? 6, 100)
    const value = /[fF]/.test(letter) ? size.toFixed(places) : exponential(size, places)
    return { value: sign + value }
  }
  const digits = Math.abs(Math.trunc(number)).toString(RADIX[letter.toLowerCase()] ?? 10)
  const prefix = flags.includes('#') && number !== 0 ? (PREFIX[letter.toLowerCase()] ?? '') : ''
  const value = sign + prefix + digits.padStart(precision ?? 0, '0')
  return { value: letter === 'X' ? value.toUpperCase() : value }
}

/** A text with escapes, up to a `\c` that ends all output. */
export function expanded(text: string): { value: string; isEnd: boolean } {
  const [value = '', ...more] = text.split('\\c')
  return { value: value.replaceAll(ESCAPE, unescaped), isEnd: more.length > 0 }
}

/** With an exponent of two digits at least. */
function exponential(size: number, places: number): string {
  return size.toExponential(places).replace(/([+-])(\d)$/, '$10$2')
}

function padded(
  value: string,
  flags: string,
  width: number,
  letter: string,
  precision: number | undefined,
): string {
  if (flags.includes('-')) return value.padEnd(width)
  const isNumber = !/[scb]/.test(letter)
  if (!flags.includes('0') || !isNumber || (precision !== undefined && !/[fFeE]/.test(letter)))
    return value.padStart(width)
  const [, start = '', digits = ''] = /^([-+ ]?(?:0[xX])?)(.*)$/s.exec(value)!
  return start + digits.padStart(width - start.length, '0')
}

function unescaped(escape: string): string {
  const rest = escape.slice(1)
  if (/^[0-7]/.test(rest)) return String.fromCharCode(parseInt(rest, 8) & 0xff)
  if (/^x./.test(rest)) return String.fromCharCode(parseInt(rest.slice(1), 16))
  return ESCAPES[rest] ?? (/^[\\"']$/.test(rest) ? rest : escape)
}
