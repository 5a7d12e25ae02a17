/** The parts of timestamps and durations. Without a zone timestamps are read in UTC. */
import { goQuote } from '@gyropilot/schema/go-quote'
import { declare } from '../checking/signature.ts'
import type { Library, Overload } from '../checking/signature.ts'
import { NANOS_PER_SECOND, floorDivide } from '../values/time-text.ts'
import { EvaluationError, MAX_INT, MIN_INT } from '../values/values.ts'
import type { CelDuration, CelTimestamp } from '../values/values.ts'

const NANOS_PER_MILLI = 1_000_000n
const MILLIS_PER_DAY = 86_400_000

/** What a clock on the wall of the zone shows, as if it were UTC. */
function wallTime({ nanos }: CelTimestamp, zone: string): Date {
  const utcMs = Number(floorDivide(nanos, NANOS_PER_MILLI))
  return new Date(utcMs + zoneOffsetMs(zone, utcMs))
}

function zoneOffsetMs(zone: string, utcMs: number): number {
  // What is local to a server is no business of expressions: here it is UTC, as in the images of kube-apiserver.
  if (['', 'UTC', 'Local'].includes(zone)) return 0
  const colon = zone.indexOf(':')
  if (colon >= 0) {
    const [hours, minutes] = [wholeNumber(zone.slice(0, colon)), wholeNumber(zone.slice(colon + 1))]
    return (hours * 60 + (zone.startsWith('-') ? -minutes : minutes)) * 60_000
  }
  if (/\.\.|^[/\\]/.test(zone)) throw new EvaluationError('time: invalid location name')
  const format = formatOf(zone)
  if (format === undefined) throw new EvaluationError(`unknown time zone ${zone}`)
  const name = format.formatToParts(utcMs).find(({ type }) => type === 'timeZoneName')?.value
  const match = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name ?? '')
  if (match === null) return 0
  const [, sign, hours, minutes, seconds = '0'] = match
  const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -ms : ms
}

/** Of hours and minutes before and behind a colon. */
function wholeNumber(text: string): number {
  const refused = `strconv.Atoi: parsing ${goQuote(text)}: `
  if (!/^[+-]?\d+$/.test(text)) throw new EvaluationError(`${refused}invalid syntax`)
  const value = BigInt(text.replace(/^\+/, ''))
  if (value < MIN_INT || value > MAX_INT) throw new EvaluationError(`${refused}value out of range`)
  return Number(value)
}

/** Short names that only the library of this runtime knows. */
const NOT_IN_GO = new Set(
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST'.split(
    ' ',
  ),
)

/** Undefined for a zone that is none. Names are told apart by case, as those of files. */
function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  if (!/^[A-Z]/.test(zone) || NOT_IN_GO.has(zone)) return undefined
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    const { timeZone } = format.resolvedOptions()
    const differsInCase = timeZone !== zone && timeZone.toLowerCase() === zone.toLowerCase()
    return differsInCase ? undefined : format
  } catch {
    return undefined
  }
}

function dayOfYear(date: Date): number {
  // `Date.UTC` would take years before 100 for those of a century ago.
  const start = new Date(date)
  start.setUTCMonth(0, 1)
  return Math.round((date.getTime() - start.getTime()) / MILLIS_PER_DAY)
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
