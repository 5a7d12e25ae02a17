/** `date`: now, or what -d says, in UTC, as GNU and busybox write it. */
import type { Command, Process } from '../shell/process.ts'
import { knownArguments, sayUnknown } from './known-arguments.ts'

const OPTIONS = {
  // A time zone is UTC anyway.
  flags: 'uR',
  valued: 'd',
  words: { utc: 'u', universal: 'u', 'rfc-email': 'R', 'rfc-2822': 'R' },
  wordsWithValue: { date: 'd' },
} as const
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
const MAIL_FORMAT = '%a, %d %b %Y %T %z'
const USUAL_FORMAT = '%a %b %e %T UTC %Y'
/** By what follows -I. */
const ISO_FORMATS: Readonly<Record<string, string>> = {
  '': '%F',
  date: '%F',
  hours: '%FT%H%:z',
  minutes: '%FT%H:%M%:z',
  seconds: '%FT%T%:z',
  ns: '%FT%T,%N%:z',
}
const DAY_MS = 86_400_000
const UNIT_MS: Readonly<Record<string, number>> = {
  sec: 1_000,
  second: 1_000,
  min: 60_000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
}
const NAMED_MS: Readonly<Record<string, number>> = {
  now: 0,
  today: 0,
  tomorrow: DAY_MS,
  yesterday: -DAY_MS,
}

export const date: Command = async (task) => {
  const isoOf = (arg: string): string | undefined => /^(?:-I|--iso-8601(?:=|$))(.*)$/.exec(arg)?.[1]
  const iso = task.args.map(isoOf).findLast((form) => form !== undefined)
  const rest = task.args.filter((arg) => isoOf(arg) === undefined)
  const given = await knownArguments(task, 'date', OPTIONS, rest)
  if (given === undefined) return 1
  const [operand, ...more] = given.operands
  const text = given.value('d')
  const timeMs = text === undefined ? task.place.nowMs() : timeOf(text, task.place.nowMs())
  const isFormat = operand === undefined || operand.startsWith('+')
  if (timeMs === undefined || !isFormat || more.length > 0)
    return unknown(task, task.args.join(' '))
  const format =
    operand?.slice(1) ??
    (iso === undefined ? (given.has('R') ? MAIL_FORMAT : USUAL_FORMAT) : ISO_FORMATS[iso])
  const written = format === undefined ? undefined : formatted(format, timeMs)
  if (written === undefined) return unknown(task, operand ?? `-I${iso}`)
  await task.out(`${written}\n`)
  return 0
}

async function unknown(task: Process, what: string): Promise<number> {
  await sayUnknown(task, 'date', what)
  return 1
}

/** `@1700000000`, `2026-01-02T03:04:05Z`, `2026-01-02 03:04`, `2 hours ago`, `tomorrow`. Undefined: it is none of these. */
function timeOf(text: string, nowMs: number): number | undefined {
  const [, seconds] = /^@(-?\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (seconds !== undefined) return Number(seconds) * 1_000
  if (Object.hasOwn(NAMED_MS, text)) return nowMs + NAMED_MS[text]!
  const [, amount, unit = '', ago] = /^([-+]?\d+) ?([a-z]+?)s?( ago)?$/.exec(text) ?? []
  if (amount !== undefined && Object.hasOwn(UNIT_MS, unit))
    return nowMs + Number(amount) * UNIT_MS[unit]! * (ago === undefined ? 1 : -1)
  const [, day, time = '00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))? ?(Z|UTC|[-+]\d\d:\d\d)?$/.exec(
      text,
    ) ?? []
  if (day === undefined) return undefined
  const timeMs = Date.parse(`${day}T${time}${zone === 'UTC' ? 'Z' : zone}`)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

/** Letters as strftime has them, with `-` and `_` for what numbers are filled with. Undefined: one is not known. */
function formatted(format: string, timeMs: number): string | undefined {
  let isKnown = true
  const text = format.replace(
    /%([-_0^]?)(\d*)(:?[A-Za-z%])?/g,
    (_, flag: string, width: string, letter = '') => {
      const value = fieldOf(letter, timeMs)
      // How many digits: only of parts of a second.
      isKnown &&= value !== undefined && (width === '' || letter === 'N')
      if (value === undefined) return ''
      if (letter === 'N') return value.slice(0, width === '' ? undefined : Number(width))
      if (flag === '-') return value.replace(/^[ 0]+(?=.)/, '')
      if (flag === '_') return value.replace(/^0+(?=.)/, (zeros) => ' '.repeat(zeros.length))
      if (flag === '0') return value.replace(/^ +/, (blanks) => '0'.repeat(blanks.length))
      return flag === '^' ? value.toUpperCase() : value
    },
  )
  return isKnown ? text : undefined
}

function fieldOf(letter: string, timeMs: number): string | undefined {
  const time = new Date(timeMs)
  const filled = (value: number, fill = '0', width = 2): string =>
    String(value).padStart(width, fill)
  const [year, hour, weekday] = [time.getUTCFullYear(), time.getUTCHours(), time.getUTCDay()]
  const dayOfYear = Math.floor((timeMs - Date.UTC(year, 0)) / DAY_MS)
  const [day, month] = [DAYS[weekday]!, MONTHS[time.getUTCMonth()]!]
  const ofHalfDay = hour % 12 === 0 ? 12 : hour % 12
  const fields: Readonly<Record<string, () => string>> = {
    '%': () => '%',
    ':z': () => '+00:00',
    A: () => day,
    a: () => day.slice(0, 3),
    B: () => month,
    b: () => month.slice(0, 3),
    C: () => filled(Math.floor(year / 100)),
    D: () => `${fields['m']!()}/${fields['d']!()}/${fields['y']!()}`,
    d: () => filled(time.getUTCDate()),
    e: () => filled(time.getUTCDate(), ' '),
    F: () => `${year}-${fields['m']!()}-${fields['d']!()}`,
    H: () => filled(hour),
    h: () => month.slice(0, 3),
    I: () => filled(ofHalfDay),
    j: () => filled(dayOfYear + 1, '0', 3),
    k: () => filled(hour, ' '),
    l: () => filled(ofHalfDay, ' '),
    M: () => filled(time.getUTCMinutes()),
    m: () => filled(time.getUTCMonth() + 1),
    N: () => filled(Math.round((timeMs - Math.floor(timeMs / 1_000) * 1_000) * 1e6), '0', 9),
    n: () => '\n',
    P: () => (hour < 12 ? 'am' : 'pm'),
    p: () => (hour < 12 ? 'AM' : 'PM'),
    R: () => `${fields['H']!()}:${fields['M']!()}`,
    r: () => `${fields['I']!()}:${fields['M']!()}:${fields['S']!()} ${fields['p']!()}`,
    S: () => filled(time.getUTCSeconds()),
    s: () => String(Math.floor(timeMs / 1_000)),
    T: () => `${fields['R']!()}:${fields['S']!()}`,
    t: () => '\t',
    U: () => filled(Math.floor((dayOfYear + 7 - weekday) / 7)),
    u: () => String(weekday === 0 ? 7 : weekday),
    W: () => filled(Math.floor((dayOfYear + 7 - ((weekday + 6) % 7)) / 7)),
    w: () => String(weekday),
    Y: () => String(year),
    y: () => filled(year % 100),
    Z: () => 'UTC',
    z: () => '+0000',
  }
  return Object.hasOwn(fields, letter) ? fields[letter]!() : undefined
}
