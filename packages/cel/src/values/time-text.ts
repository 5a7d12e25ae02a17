/** Durations and timestamps as text. */
import { goDurationNanos } from '@gyropilot/foundation'

export const NANOS_PER_SECOND = 1_000_000_000n
const NANOS_PER_MILLI = 1_000_000n

/** Years 1 to 9999. */
const MIN_TIMESTAMP = -62_135_596_800n * NANOS_PER_SECOND
const MAX_TIMESTAMP = 253_402_300_800n * NANOS_PER_SECOND - 1n

/** Nanoseconds of `1h30m`, `-1.5s`; undefined for what is no duration. */
export function parseDuration(text: string): bigint | undefined {
  const nanos = goDurationNanos(text)
  return typeof nanos === 'string' ? undefined : nanos
}

/** Seconds as a double, in its fewest digits: `5400s`, `1.5s`; `3600000000s` for one nanosecond more. */
export function formatDuration(nanos: bigint): string {
  const seconds = Number(nanos / NANOS_PER_SECOND) + Number(nanos % NANOS_PER_SECOND) / 1e9
  const [digits = '', exponent] = String(seconds).split('e-')
  if (exponent === undefined) return `${digits}s`
  const sign = seconds < 0 ? '-' : ''
  const zeros = '0'.repeat(Number(exponent) - 1)
  return `${sign}0.${zeros}${digits.replaceAll(/[-.]/g, '')}s`
}

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/

/** Nanoseconds since the epoch of an RFC 3339 time; undefined for anything else. As Go reads them: hours also with one digit. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = TIMESTAMP.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number)
  const seconds = utcSeconds(year!, month!, day!)
  if (seconds === undefined || hour! > 23 || minute! > 59 || second! > 59) return undefined
  const offset = Number(match[9] ?? 0) * 3600 + Number(match[10] ?? 0) * 60
  const local = seconds + BigInt(hour! * 3600 + minute! * 60 + second!)
  const utc = local - BigInt(match[8] === '-' ? -offset : offset)
  const nanos = utc * NANOS_PER_SECOND + BigInt((match[7] ?? '').padEnd(9, '0').slice(0, 9))
  return isTimestamp(nanos) ? nanos : undefined
}

export function isTimestamp(nanos: bigint): boolean {
  return nanos >= MIN_TIMESTAMP && nanos <= MAX_TIMESTAMP
}

/** Of a day's midnight, or undefined when the calendar has no such day. */
export function utcSeconds(year: number, month: number, day: number): bigint | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  return BigInt(date.getTime() / 1000)
}

/** Of an RFC 3339 time. */
export function offsetMinutesOf(text: string): number {
  const [, sign, hours, minutes] = /([+-])(\d{2}):(\d{2})$/.exec(text) ?? []
  const offset = Number(hours ?? 0) * 60 + Number(minutes ?? 0)
  return sign === '-' ? -offset : offset
}

/** As a clock of that offset shows it. */
export function formatTimestamp(nanos: bigint, offsetMinutes = 0): string {
  if (offsetMinutes !== 0) {
    const local = formatTimestamp(nanos + BigInt(offsetMinutes) * 60n * NANOS_PER_SECOND)
    const [hours, minutes] = [
      Math.floor(Math.abs(offsetMinutes) / 60),
      Math.abs(offsetMinutes) % 60,
    ]
    const sign = offsetMinutes < 0 ? '-' : '+'
    return local.replace('Z', `${sign}${twoDigits(hours)}:${twoDigits(minutes)}`)
  }
  const millis = floorDivide(nanos, NANOS_PER_MILLI)
  const seconds = new Date(Number(millis)).toISOString().slice(0, 19)
  const rest = nanos - floorDivide(nanos, NANOS_PER_SECOND) * NANOS_PER_SECOND
  const fraction = rest.toString().padStart(9, '0').replace(/0+$/, '')
  return `${seconds}${fraction === '' ? '' : `.${fraction}`}Z`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}
