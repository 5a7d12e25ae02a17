/** The parts of timestamps and durations. Without a zone timestamps are read in UTC. */
import { declare } from '../checking/signature.ts'
import type { Library, Overload } from '../checking/signature.ts'
import { NANOS_PER_SECOND, floorDivide } from '../values/time-text.ts'
import { EvaluationError } from '../values/values.ts'
import type { CelDuration, CelTimestamp } from '../values/values.ts'

const NANOS_PER_MILLI = 1_000_000n
const MILLIS_PER_DAY = 86_400_000

/** What a clock on the wall of the zone shows, as if it were UTC. */
function wallTime({ nanos }: CelTimestamp, zone: string): Date {
  const utcMs = Number(floorDivide(nanos, NANOS_PER_MILLI))
  return new Date(utcMs + zoneOffsetMs(zone, utcMs))
}

function zoneOffsetMs(zone: string, utcMs: number): number {
  if (zone === '' || zone === 'UTC') return 0
  const fixed = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone)
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3])
    return (fixed[1] === '-' ? -minutes : minutes) * 60_000
  }
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    const name = format.formatToParts(utcMs).find(({ type }) => type === 'timeZoneName')?.value
    const match = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name ?? '')
    if (match === null) return 0
    const [, sign, hours, minutes, seconds = '0'] = match
    const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -ms : ms
  } catch {
    throw new EvaluationError(`unknown time zone ${zone}`)
  }
}

function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getUTCFullYear(), 0, 1)
  return Math.floor((date.getTime() - start) / MILLIS_PER_DAY)
}

const PARTS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
}

/** Durations are whole, not the rest: 90 minutes are 1 hour and 90 minutes. */
const UNITS: Readonly<Record<string, bigint>> = {
  getHours: 3600n * NANOS_PER_SECOND,
  getMinutes: 60n * NANOS_PER_SECOND,
  getSeconds: NANOS_PER_SECOND,
}

export const TIME: Library = {
  overloads: [
    ...Object.entries(PARTS).flatMap(([name, part]): Overload[] => [
      declare(`timestamp.${name}(): int`, (value: CelTimestamp) =>
        BigInt(part(wallTime(value, 'UTC'))),
      ),
      declare(`timestamp.${name}(string): int`, (value: CelTimestamp, zone: string) =>
        BigInt(part(wallTime(value, zone))),
      ),
    ]),
    ...Object.entries(UNITS).map(([name, unit]) =>
      declare(`duration.${name}(): int`, ({ nanos }: CelDuration) => nanos / unit),
    ),
    declare('duration.getMilliseconds(): int', ({ nanos }: CelDuration) => nanos / NANOS_PER_MILLI),
  ],
}
