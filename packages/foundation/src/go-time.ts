/**
 * Times as Go's time.Parse reads them by the layouts of metav1.Time and metav1.MicroTime, with its errors. The hour may have
 * one digit, the fraction a comma, a zone up to 24 hours and 60 minutes. Contract: docs/behaviour/api-server/requests.md, "Decoding".
 */

/** A moment as it was read. */
export interface GoTime {
  /** Whole seconds since 1970, as milliseconds. */
  readonly ms: number
  /** Digits after the second, none or at least one. */
  readonly fraction: string
}

interface Layout {
  readonly text: string
  readonly hasFraction: boolean
}

/** Of metav1.Time. */
export const TIME_LAYOUT: Layout = { text: '2006-01-02T15:04:05Z07:00', hasFraction: false }
/** Of metav1.MicroTime. */
export const MICRO_TIME_LAYOUT: Layout = {
  text: '2006-01-02T15:04:05.000000Z07:00',
  hasFraction: true,
}

/** The error is Go's message. */
export function parseGoTime(text: string, layout: Layout): GoTime | { readonly error: string } {
  const reader = new Reader(text, layout.text)
  const year = reader.number('2006', /^\d{4}/)
  reader.literal('-')
  const month = reader.number('01', /^\d\d/, 'month', 1, 12)
  reader.literal('-')
  const day = reader.number('02', /^\d\d/)
  reader.literal('T')
  const hour = reader.number('15', /^\d\d?/, 'hour', 0, 23)
  reader.literal(':')
  const minute = reader.number('04', /^\d\d/, 'minute', 0, 59)
  reader.literal(':')
  const second = reader.number('05', /^\d\d/, 'second', 0, 59)
  const fraction = layout.hasFraction
    ? reader.take('.000000', /^[.,]\d{6}/)
    : reader.take('', /^(?:[.,]\d+)?/)
  const zone = reader.take('Z07:00', /^(?:Z|[+-]\d\d:\d\d)/)
  const offset = zone.length === 6 ? zoneMinutes(zone, reader) : 0
  reader.end()
  if (day < 1 || day > daysIn(year, month)) reader.outOfRange('day')
  if (reader.error !== undefined) return { error: reader.error }
  const moment = new Date(0)
  moment.setUTCFullYear(year, month - 1, day)
  moment.setUTCHours(hour, minute - offset, second)
  return { ms: moment.getTime(), fraction: fraction.slice(1) }
}

function zoneMinutes(zone: string, reader: Reader): number {
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4))
  if (hours > 24) reader.outOfRange('time zone offset hour')
  if (minutes > 60) reader.outOfRange('time zone offset minute')
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Goes through the text once; after the first error nothing more is read. */
class Reader {
  readonly #text: string
  readonly #layout: string
  #rest: string
  error: string | undefined

  constructor(text: string, layout: string) {
    this.#text = text
    this.#layout = layout
    this.#rest = text
  }

  take(step: string, pattern: RegExp): string {
    if (this.error !== undefined) return ''
    const match = pattern.exec(this.#rest)
    if (match === null) {
      this.error = `parsing time ${quote(this.#text)} as ${quote(this.#layout)}: cannot parse ${quote(this.#rest)} as ${quote(step)}`
      return ''
    }
    this.#rest = this.#rest.slice(match[0].length)
    return match[0]
  }

  literal(char: string): void {
    this.take(char, char === '-' ? /^-/ : char === 'T' ? /^T/ : /^:/)
  }

  number(step: string, pattern: RegExp, part = '', low = 0, high = Infinity): number {
    const value = Number(this.take(step, pattern))
    if (value < low || value > high) this.outOfRange(part)
    return value
  }

  outOfRange(part: string): void {
    this.error ??= `parsing time ${quote(this.#text)}: ${part} out of range`
  }

  end(): void {
    if (this.#rest !== '')
      this.error ??= `parsing time ${quote(this.#text)}: extra text: ${quote(this.#rest)}`
  }
}

/** Bytes outside printable ASCII are written in hex. */
function quote(text: string): string {
  let quoted = ''
  for (const byte of Buffer.from(text)) {
    if (byte === 0x22 || byte === 0x5c) quoted += `\\${String.fromCharCode(byte)}`
    else if (byte >= 0x20 && byte < 0x7f) quoted += String.fromCharCode(byte)
    else quoted += `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return `"${quoted}"`
}

/** `2024-01-02T03:04:05` in UTC; years beyond 9999 have as many digits as they need. */
export function formatGoTime(ms: number): string {
  const moment = new Date(ms)
  const year = String(moment.getUTCFullYear()).padStart(4, '0')
  return (
    year +
    moment
      .toISOString()
      .replace(/^[+-]?\d+/, '')
      .slice(0, 15)
  )
}
