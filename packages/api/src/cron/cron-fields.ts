/**
 * The text of a cron schedule, as kube-apiserver and kube-controller-manager read it.
 * Contract: docs/behaviour/controllers/cronjob-controller.md, Schedule grammar.
 */
import { parseGoDuration } from '@gyropilot/foundation'
import { timeZoneNamed } from './time-zone.ts'
import type { TimeZone } from './time-zone.ts'

/** The values that one field allows. A star also says that the field does not restrict anything. */
interface CronField {
  readonly values: ReadonlySet<number>
  readonly isStar: boolean
}

export type CronRule =
  | {
      readonly kind: 'fields'
      readonly minute: CronField
      readonly hour: CronField
      readonly dayOfMonth: CronField
      readonly month: CronField
      readonly dayOfWeek: CronField
    }
  /** Whole seconds, at least one. */
  | { readonly kind: 'every'; readonly periodMs: number }

export interface ParsedSchedule {
  readonly rule: CronRule
  /** Of a prefix `TZ=` or `CRON_TZ=`. */
  readonly zone?: TimeZone
}

/** Words for what is wrong with a schedule, as the parser of Kubernetes has them. */
class ScheduleProblem extends Error {}

interface Bounds {
  readonly low: number
  readonly high: number
  /** The first of them stands for `low`. */
  readonly names: readonly string[]
}

const MINUTE: Bounds = { low: 0, high: 59, names: [] }
const HOUR: Bounds = { low: 0, high: 23, names: [] }
const DAY_OF_MONTH: Bounds = { low: 1, high: 31, names: [] }
const MONTH: Bounds = {
  low: 1,
  high: 12,
  names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
}
const DAY_OF_WEEK: Bounds = {
  low: 0,
  high: 6,
  names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
}

const DESCRIPTORS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
const EVERY = '@every '

/** The schedule, or words for what is wrong with it. */
export function parseSchedule(text: string): ParsedSchedule | string {
  try {
    return scheduleOf(text)
  } catch (error) {
    if (error instanceof ScheduleProblem) return error.message
    throw error
  }
}

function scheduleOf(text: string): ParsedSchedule {
  if (text === '') throw new ScheduleProblem('empty spec string')
  const [, zoneName, rest] = /^(?:CRON_)?TZ=(\S*)\s*(.*)$/s.exec(text) ?? []
  if (zoneName === undefined) return { rule: ruleOf(text) }
  // That of the process: the caller's.
  if (zoneName === 'Local') return { rule: ruleOf((rest ?? '').trim()) }
  const zone = timeZoneNamed(zoneName)
  if (zone === undefined)
    throw new ScheduleProblem(`provided bad location ${zoneName}: unknown time zone ${zoneName}`)
  return { rule: ruleOf((rest ?? '').trim()), zone }
}

function ruleOf(text: string): CronRule {
  if (text.startsWith('@')) return descriptorOf(text)
  const fields = text.split(/\s+/).filter((part) => part !== '')
  if (fields.length !== 5)
    throw new ScheduleProblem(
      `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`,
    )
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields as [
    string,
    string,
    string,
    string,
    string,
  ]
  return {
    kind: 'fields',
    minute: fieldOf(minute, MINUTE),
    hour: fieldOf(hour, HOUR),
    dayOfMonth: fieldOf(dayOfMonth, DAY_OF_MONTH),
    month: fieldOf(month, MONTH),
    dayOfWeek: fieldOf(dayOfWeek, DAY_OF_WEEK),
  }
}

function descriptorOf(text: string): CronRule {
  const fields = DESCRIPTORS[text]
  if (fields !== undefined) return ruleOf(fields)
  if (!text.startsWith(EVERY)) throw new ScheduleProblem(`unrecognized descriptor: ${text}`)
  const periodMs = parseGoDuration(text.slice(EVERY.length))
  if (typeof periodMs === 'string')
    throw new ScheduleProblem(`failed to parse duration ${text}: ${periodMs}`)
  return { kind: 'every', periodMs: Math.max(1, Math.trunc(periodMs / 1_000)) * 1_000 }
}

function fieldOf(text: string, bounds: Bounds): CronField {
  const values = new Set<number>()
  let isStar = false
  for (const part of text.split(',').filter((item) => item !== '')) {
    const range = rangeOf(part, bounds)
    for (let value = range.low; value <= range.high; value += range.step) values.add(value)
    isStar ||= range.isStar
  }
  return { values, isStar }
}

interface Range {
  readonly low: number
  readonly high: number
  readonly step: number
  readonly isStar: boolean
}

/** `*`, `?`, `N` or `N-M`, each also with `/step`; `N/step` reaches to the end of the field. */
function rangeOf(text: string, bounds: Bounds): Range {
  const [ends = '', stepText, ...moreSteps] = text.split('/')
  const [first = '', last, ...moreEnds] = ends.split('-')
  const isStar = first === '*' || first === '?'
  let { low, high } = bounds
  if (!isStar) {
    low = numberOf(first, bounds)
    if (moreEnds.length > 0) throw new ScheduleProblem(`too many hyphens: ${text}`)
    if (last !== undefined) high = numberOf(last, bounds)
    else if (stepText === undefined) high = low
  }
  if (moreSteps.length > 0) throw new ScheduleProblem(`too many slashes: ${text}`)
  const step = stepText === undefined ? 1 : plainNumber(stepText)
  const problem = rangeProblem(low, high, step, bounds)
  if (problem !== undefined) throw new ScheduleProblem(`${problem}: ${text}`)
  return { low, high, step, isStar: isStar && step === 1 }
}

function rangeProblem(low: number, high: number, step: number, bounds: Bounds): string | undefined {
  if (low < bounds.low) return `beginning of range (${low}) below minimum (${bounds.low})`
  if (high > bounds.high) return `end of range (${high}) above maximum (${bounds.high})`
  if (low > high) return `beginning of range (${low}) beyond end of range (${high})`
  return step === 0 ? 'step of range should be a positive number' : undefined
}

function numberOf(text: string, { names, low }: Bounds): number {
  const named = names.indexOf(text.toLowerCase())
  return named >= 0 ? low + named : plainNumber(text)
}

function plainNumber(text: string): number {
  const value = /^[-+]?\d+$/.test(text) ? Number(text) : undefined
  if (value === undefined || Math.abs(value) > 2 ** 63) {
    const why = value === undefined ? 'invalid syntax' : 'value out of range'
    const quoted = JSON.stringify(text)
    throw new ScheduleProblem(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${quoted}: ${why}`,
    )
  }
  if (value < 0) throw new ScheduleProblem(`negative number (${value}) not allowed: ${text}`)
  return value
}
