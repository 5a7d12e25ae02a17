/**
 * Local time of the zones of the IANA database that Node brings along, in the manner in which Go resolves local times that exist
 * twice or not at all.
 */

/** Fields of a local time; months 1 to 12, days of the week 0 (Sunday) to 6. */
export interface LocalTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly weekday: number
}

type LocalFields = Omit<LocalTime, 'weekday'>

export interface TimeZone {
  readonly name: string
  /** Local time minus UTC at an instant, in milliseconds. */
  offsetMs(timeMs: number): number
}

export const UTC: TimeZone = { name: 'UTC', offsetMs: () => 0 }

const zones = new Map<string, TimeZone>([['UTC', UTC]])

/**
 * The zone of this name: `Europe/Berlin`, `UTC`, and the empty name for UTC. Undefined for names that are not in the database, and
 * for `Local`, which no two machines need agree on. Names are names of files for Go, so their case counts.
 */
export function timeZoneNamed(name: string): TimeZone | undefined {
  const known = zones.get(name || 'UTC')
  if (known !== undefined) return known
  if (!isKnownTimeZone(name) || name === 'Local') return undefined
  const zone: TimeZone = { name, offsetMs: offsetsOf(name) }
  zones.set(name, zone)
  return zone
}

/** Whether a name can be loaded; `Local` can. */
export function isKnownTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true
  try {
    // Throws for names it does not know; offsets are no names.
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return timeZone !== '' && !/^[+-]|(?:^|\/)[a-z]/.test(name)
  } catch {
    return false
  }
}

/** Zones change their offset on a quarter of an hour: what holds at its beginning holds to its end. */
const QUARTER_MS = 15 * 60_000
const REMEMBERED_QUARTERS = 4_096

function offsetsOf(name: string): (timeMs: number) => number {
  const format = new Intl.DateTimeFormat('en-u-hc-h23', {
    timeZone: name,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const known = new Map<number, number>()
  return (timeMs) => {
    const quarter = Math.floor(timeMs / QUARTER_MS)
    let offsetMs = known.get(quarter)
    if (offsetMs !== undefined) return offsetMs
    const startMs = quarter * QUARTER_MS
    const parts: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(startMs)) parts[type] = Number(value)
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts
    offsetMs = Date.UTC(year, month - 1, day, hour, minute, second) - startMs
    if (known.size >= REMEMBERED_QUARTERS) known.clear()
    known.set(quarter, offsetMs)
    return offsetMs
  }
}

export function localTimeOf(timeMs: number, zone: TimeZone): LocalTime {
  const shifted = new Date(timeMs + zone.offsetMs(timeMs))
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth() + 1,
    day: shifted.getUTCDate(),
    hour: shifted.getUTCHours(),
    minute: shifted.getUTCMinutes(),
    second: shifted.getUTCSeconds(),
    weekday: shifted.getUTCDay(),
  }
}

/**
 * The instant of a local time; fields that are too large carry over, the 32nd of January is the 1st of February. Of a time that exists
 * twice or not at all one of the two possible answers, the one that Go's time package gives.
 */
export function instantOf(local: LocalFields, zone: TimeZone): number {
  const { year, month, day, hour, minute, second } = local
  const asUtcMs = Date.UTC(year, month - 1, day, hour, minute, second)
  const firstGuessMs = zone.offsetMs(asUtcMs)
  return firstGuessMs === 0 ? asUtcMs : asUtcMs - zone.offsetMs(asUtcMs - firstGuessMs)
}

/** RFC 3339 with the offset of the zone: `2026-01-01T08:00:00+08:00`; `Z` where there is none. */
export function formatZonedTime(timeMs: number, zone: TimeZone): string {
  const offsetMs = zone.offsetMs(timeMs)
  const local = new Date(timeMs + offsetMs).toISOString().slice(0, 19)
  return offsetMs === 0 ? `${local}Z` : `${local}${offsetText(offsetMs)}`
}

function offsetText(offsetMs: number): string {
  const minutes = Math.trunc(Math.abs(offsetMs) / 60_000)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`
}
