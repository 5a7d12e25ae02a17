/** Timestamps on objects: RFC 3339 text, whole seconds for metav1.Time, microseconds for metav1.MicroTime. */

/**
 * As Go reads it, which is more than RFC 3339 (hours of one digit, fractions after a comma, zones up to 24:60) and less (no
 * small letters, no hour 24, no second 60).
 */
const TIME =
  /^(\d{4})-(\d\d)-(\d\d)T([01]?\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,](\d+))?(?:Z|([+-])([01]\d|2[0-4]):([0-5]\d|60))$/

/** The calendar repeats itself after 400 years; Date takes the years 0 to 99 for others. */
const CALENDAR_YEARS = 400
const CALENDAR_MS = 146_097 * 86_400_000

/** Milliseconds since the Unix epoch; finer parts are cut off. Undefined for absent or malformed text. */
export function parseTime(text: string | null | undefined): number | undefined {
  const found = TIME.exec(text ?? '')
  if (found === null) return undefined
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number)
  const midnight = new Date(Date.UTC(year! + CALENDAR_YEARS, month! - 1, day!))
  if (midnight.getUTCMonth() !== month! - 1 || midnight.getUTCDate() !== day) return undefined
  const [fraction = '', sign, zoneHours, zoneMinutes] = found.slice(7)
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const zone = Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)
  const seconds = (hour! * 60 + minute! - (sign === '-' ? -zone : zone)) * 60 + second!
  return midnight.getTime() - CALENDAR_MS + seconds * 1000 + milliseconds
}

/** Orders by time, absent and malformed ones first. */
export function compareTimes(a: string | null | undefined, b: string | null | undefined): number {
  const left = parseTime(a) ?? -Infinity
  const right = parseTime(b) ?? -Infinity
  return left < right ? -1 : left > right ? 1 : 0
}

/** Milliseconds from a timestamp to `nowMs`; undefined without a timestamp. */
export function elapsedSince(text: string | null | undefined, nowMs: number): number | undefined {
  const timeMs = parseTime(text)
  return timeMs === undefined ? undefined : nowMs - timeMs
}
