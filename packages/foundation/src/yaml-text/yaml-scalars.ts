/** How one value stands in a document of Kubernetes' YAML writer: which quotes it needs, and where it is broken. */

/** Lines of text are broken at the first space behind so many characters. */
const BEST_WIDTH = 80

/** Where a scalar is written. */
interface Place {
  /** Characters on the line before it. */
  readonly column: number
  /** Of the lines that follow the first one. */
  readonly indent: number
  /** Keys stay on one line. */
  readonly isKey: boolean
}

export function scalarText(value: unknown, place: Place): string {
  if (typeof value === 'string') return stringText(value, place)
  return typeof value === 'number' ? numberText(value) : String(value)
}

/** As Go prints the shortest text of a float64. */
function numberText(value: number): string {
  if (Number.isInteger(value)) return String(value)
  const [digits = '', exponent = ''] = value.toExponential().split('e')
  if (Number(exponent) >= -4 && Number(exponent) < 6) return String(value)
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
}

const WORDS: ReadonlySet<string> = new Set(
  `y Y yes Yes YES on On ON true True TRUE n N no No NO off Off OFF false False FALSE ~ null Null NULL .nan .NaN .NAN .inf .Inf
  .INF +.inf +.Inf +.INF -.inf -.Inf -.INF`.split(/\s+/),
)
const NUMBERS: readonly RegExp[] = [
  /^[-+]?(0x[\da-f]+|0o[0-7]+|0b[01]+|0[0-7]*|[1-9]\d*)$/i,
  /^[-+]?(\.\d+|\d+(\.\d*)?)(e[-+]?\d+)?$/i,
]
const BASE_60 = /^[-+]?\d[\d_]*(:[0-5]?\d)+(\.[\d_]*)?$/
const TIME =
  /^\d{4}-(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])([Tt]\d\d?:\d\d?:\d\d?(\.\d+)?(Z|[-+]\d\d:\d\d)| \d\d?:\d\d?:\d\d?(\.\d+)?)?$/

/** Plain, it would be read as something else. */
function isAmbiguous(text: string): boolean {
  if (text === '' || WORDS.has(text)) return true
  if (text.startsWith('.')) return NUMBERS[1]!.test(text)
  if (!/^[-+\d]/.test(text)) return false
  const digits = text.replaceAll('_', '')
  return NUMBERS.some((form) => form.test(digits)) || BASE_60.test(text) || TIME.test(text)
}

const INDICATORS_FIRST = new Set('#,[]{}&*!|>\'"%@`')
/** Neither these nor characters beyond the basic plane are written as they are. */
const UNPRINTABLE = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u
const BREAK = /[\n\u2028\u2029]/
const BYTE_ORDER_MARK = '\ufeff'

function hasIndicators(text: string): boolean {
  if (/^(---|\.\.\.)/.test(text) || INDICATORS_FIRST.has(text[0]!)) return true
  return /^[?:-](\s|$)|:(\s|$)|\s#/.test(text)
}

function stringText(text: string, place: Place): string {
  if (UNPRINTABLE.test(text) || / [\n\u2028\u2029]/.test(text)) return doubleQuoted(text, place)
  if (text.includes('\n'))
    return place.isKey || text.endsWith(' ') ? doubleQuoted(text, place) : literal(text, place)
  if (isAmbiguous(text)) return doubleQuoted(text, place)
  const isBroken = BREAK.test(text)
  if (isBroken && /[\u2028\u2029] /.test(text)) return doubleQuoted(text, place)
  const isPlain = !isBroken && !text.startsWith(' ') && !text.endsWith(' ') && !hasIndicators(text)
  return isPlain ? folded(text, place, 0, '') : singleQuoted(text, place)
}

function singleQuoted(text: string, place: Place): string {
  const broken = text.replace(/[\u2028\u2029]+/g, (found) => found + ' '.repeat(place.indent))
  return `'${folded(broken.replaceAll("'", "''"), place, 1, '')}'`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
}

function escaped(char: string): string {
  const known = ESCAPES[char]
  if (known !== undefined) return known
  const hex = char.codePointAt(0)!.toString(16).toUpperCase()
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

/** Behind a mark of the byte order everything is escaped. */
function doubleQuoted(text: string, place: Place): string {
  const all = text.startsWith(BYTE_ORDER_MARK)
  let content = ''
  for (const char of text) {
    const isOrdinary = !all && !/["\\\n\u2028\u2029]/.test(char) && !UNPRINTABLE.test(char)
    content += isOrdinary ? char : escaped(char)
  }
  return `"${folded(content, place, 1, '\\')}"`
}

/** `quote`: characters before the first; quoted text is not broken at its ends. `spaceMark` keeps a space at the start of a line. */
function folded(text: string, place: Place, quote: 0 | 1, spaceMark: string): string {
  if (place.isKey || !text.includes(' ')) return text
  const chars = [...text]
  const margin = `\n${' '.repeat(place.indent)}`
  let column = place.column + quote
  let out = ''
  for (const [index, char] of chars.entries()) {
    const atEnd = quote === 1 && (index === 0 || index === chars.length - 1)
    const next = chars[index + 1]
    const isBreak =
      char === ' ' &&
      column > BEST_WIDTH &&
      !atEnd &&
      chars[index - 1] !== ' ' &&
      (spaceMark !== '' || next !== ' ')
    if (isBreak) {
      out += margin + (next === ' ' ? spaceMark : '')
      column = place.indent + (next === ' ' ? spaceMark.length : 0)
      continue
    }
    out += char
    column = char === '\u2028' || char === '\u2029' ? 0 : column + 1
  }
  return out
}

/** Ends without a line break, or with one that belongs to the text. */
function literal(text: string, { indent }: Place): string {
  const hint = /^[ \n\u2028\u2029]/.test(text) ? '2' : ''
  const chomping = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : ''
  const margin = ' '.repeat(indent)
  const lines = text.split('\n').map((line) => (line === '' ? '' : margin + line))
  return `|${hint}${chomping}\n${lines.join('\n')}`
}
