/**
 * When a schedule is due next.
 * Contract: docs/behaviour/controllers/cronjob-controller.md, Schedule grammar.
 *
 * The search goes from the coarse to the fine: to a month that is allowed, to a day in it, an hour, a minute; whenever a finer step
 * leaves the coarser unit it starts over. Hours and minutes are steps of real time, days and months of the calendar: that decides
 * what happens to local times that exist twice or not at all, and is so for every client of Kubernetes' parser.
 */
import type { CronRule } from './cron-fields.ts'
import { instantOf, localTimeOf } from './time-zone.ts'
import type { LocalTime, TimeZone } from './time-zone.ts'

type Fields = Extract<CronRule, { kind: 'fields' }>

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** A day that has not come by then never comes. */
const SEARCHED_YEARS = 5

/** The first time after `afterMs`, in whole seconds. Undefined: none within five years. */
export function nextTime(rule: CronRule, afterMs: number, zone: TimeZone): number | undefined {
  const second = Math.floor(afterMs / SECOND_MS) * SECOND_MS
  if (rule.kind === 'every') return second + rule.periodMs
  return new Search(rule, second + SECOND_MS, zone).run()
}

class Search {
  readonly #rule: Fields
  readonly #zone: TimeZone
  readonly #lastYear: number
  #timeMs: number
  #known: { readonly timeMs: number; readonly local: LocalTime } | undefined
  /** The time has been moved to the beginning of some unit: nothing before it is looked at any more. */
  #isAligned = false

  constructor(rule: Fields, startMs: number, zone: TimeZone) {
    this.#rule = rule
    this.#zone = zone
    this.#timeMs = startMs
    this.#lastYear = this.#local().year + SEARCHED_YEARS
  }

  run(): number | undefined {
    while (this.#local().year <= this.#lastYear) {
      const isFound =
        this.#toMonth() && this.#toDay() && this.#toHour() && this.#toMinute() && this.#toSecond()
      if (isFound) return this.#timeMs
    }
    return undefined
  }

  #local(): LocalTime {
    if (this.#known?.timeMs !== this.#timeMs)
      this.#known = { timeMs: this.#timeMs, local: localTimeOf(this.#timeMs, this.#zone) }
    return this.#known.local
  }

  /** Each of these answers false when it has left the unit above. */
  #toMonth(): boolean {
    while (!this.#rule.month.values.has(this.#local().month)) {
      this.#align({ day: 1, hour: 0, minute: 0, second: 0 })
      const local = this.#local()
      this.#timeMs = instantOf({ ...local, month: local.month + 1 }, this.#zone)
      if (this.#local().month === 1) return false
    }
    return true
  }

  #toDay(): boolean {
    while (!this.#isDayAllowed(this.#local())) {
      this.#align({ hour: 0, minute: 0, second: 0 })
      const local = this.#local()
      this.#goTo(instantOf({ ...local, day: local.day + 1 }, this.#zone))
      this.#backToMidnight()
      if (this.#local().day === 1) return false
    }
    return true
  }

  /** A day that a zone leaves out altogether, as Samoa did once, must not be asked for again and again. */
  #goTo(timeMs: number): void {
    this.#timeMs = timeMs > this.#timeMs ? timeMs : this.#timeMs + DAY_MS
  }

  /** Where a day has no midnight, or two of them, a step of a day does not end on one. */
  #backToMidnight(): void {
    const { hour } = this.#local()
    if (hour > 12) this.#timeMs += (24 - hour) * HOUR_MS
    else if (hour > 0) this.#timeMs -= hour * HOUR_MS
  }

  #toHour(): boolean {
    while (!this.#rule.hour.values.has(this.#local().hour)) {
      this.#align({ minute: 0, second: 0 })
      this.#timeMs += HOUR_MS
      if (this.#local().hour === 0) return false
    }
    return true
  }

  #toMinute(): boolean {
    while (!this.#rule.minute.values.has(this.#local().minute)) {
      this.#toWholeMinute()
      this.#timeMs += MINUTE_MS
      if (this.#local().minute === 0) return false
    }
    return true
  }

  /** Schedules name no seconds: the first one of a minute is meant. */
  #toSecond(): boolean {
    if (this.#timeMs % MINUTE_MS === 0) return true
    this.#isAligned = true
    this.#timeMs = Math.ceil(this.#timeMs / MINUTE_MS) * MINUTE_MS
    return false
  }

  /** If both days are restricted either will do, else both must match. */
  #isDayAllowed({ day, weekday }: LocalTime): boolean {
    const { dayOfMonth, dayOfWeek } = this.#rule
    const isDay = dayOfMonth.values.has(day)
    const isWeekday = dayOfWeek.values.has(weekday)
    return dayOfMonth.isStar || dayOfWeek.isStar ? isDay && isWeekday : isDay || isWeekday
  }

  /** Once, at the first step that is taken. */
  #align(fields: Partial<LocalTime>): void {
    if (this.#isAligned) return
    this.#isAligned = true
    this.#timeMs = instantOf({ ...this.#local(), ...fields }, this.#zone)
  }

  /** In real time and not by the calendar, which would lose the second of two equal minutes. */
  #toWholeMinute(): void {
    if (this.#isAligned) return
    this.#isAligned = true
    this.#timeMs = Math.floor(this.#timeMs / MINUTE_MS) * MINUTE_MS
  }
}
