/**
 * Schedules of CronJobs: five fields, descriptors, `@every`, time zones.
 * Contract: docs/behaviour/controllers/cronjob-controller.md, Schedule grammar.
 */
import { parseSchedule } from './cron-fields.ts'
import type { ParsedSchedule } from './cron-fields.ts'
import { nextTime } from './next-time.ts'
import type { TimeZone } from './time-zone.ts'

export class CronSchedule {
  readonly #parsed: ParsedSchedule

  private constructor(parsed: ParsedSchedule) {
    this.#parsed = parsed
  }

  /** Or words for what is wrong with the text. */
  static parse(text: string): CronSchedule | string {
    const parsed = parseSchedule(text)
    return typeof parsed === 'string' ? parsed : new CronSchedule(parsed)
  }

  /**
   * The first due time after `afterMs`, both in milliseconds since the Unix epoch, the answer in whole seconds. `zone` counts where the
   * text names none itself. Undefined: there is none within five years.
   */
  nextMs(afterMs: number, zone: TimeZone): number | undefined {
    return nextTime(this.#parsed.rule, afterMs, this.#parsed.zone ?? zone)
  }
}
