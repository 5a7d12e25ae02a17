/** Timestamps on objects: RFC 3339 text, whole seconds for metav1.Time, microseconds for metav1.MicroTime. */

/**
 * As Go reads it, which is more than RFC 3339 (hours of one digit, fractions after a comma, zones up to 24:60) and less (no
 * small letters, no hour 24, no second 60).
 */
const TIME =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]?\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,](\d+))?(?:Z|([+-])([01]\d|2[0-4]):([0-5]\d|60))$/

/** The calendar repeats itself after 400 years; Date takes the years 0 to 99 for others. */
const CALENDAR_YEARS = 400
const CALENDAR_MS = 146_097 * 86_400_000
const SHORTEST_MONTH_DAYS = 28

/** Milliseconds since the Unix epoch; finer parts are cut off. Undefined for absent or malformed text. */
export function parseTime(text: string | null | undefined): number | undefined {
  const found = TIME.exec(text ?? '')
  if (found === null) return undefined
  const year = Number(found[1]) + CALENDAR_YEARS
  const month = Number(found[2])
  const day = Number(found[3])
  if (day > SHORTEST_MONTH_DAYS && day > new Date(Date.UTC(year, month, 0)).getUTCDate())
    return undefined
  const minutes = Number(found[4]) * 60 + Number(found[5]) - zoneMinutes(found)
  const timeMs = Date.UTC(year, month - 1, day, 0, minutes, Number(found[6])) - CALENDAR_MS
  const fraction = found[7]
  return fraction === undefined ? timeMs : timeMs + Number(fraction.slice(0, 3).padEnd(3, '0'))
}

function zoneMinutes([, , , , , , , , sign, hours, minutes]: RegExpExecArray): number {
  if (sign === undefined) return 0
  const zone = Number(hours) * 60 + Number(minutes)
  return sign === '-' ? -zone : zone
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
