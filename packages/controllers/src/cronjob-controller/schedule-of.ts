/**
 * The schedule of a CronJob and the zone it is read in.
 * Contract: docs/behaviour/controllers/cronjob-controller.md, Schedule grammar, "Zone used".
 */
import { CronSchedule, timeZoneNamed } from '@gyropilot/api'
import type { CronJob, TimeZone } from '@gyropilot/api'

export interface DueTimes {
  /** The first due time after a moment; undefined: there is none within five years. */
  after(timeMs: number): number | undefined
}

/** `local` counts where neither the schedule nor `timeZone` names one. Or words for what is wrong with the schedule. */
export function dueTimesOf({ spec }: CronJob, local: TimeZone): DueTimes | string {
  const schedule = CronSchedule.parse(spec?.schedule ?? '')
  if (typeof schedule === 'string') return schedule
  const zone = (spec?.timeZone && timeZoneNamed(spec.timeZone)) || local
  return { after: (timeMs) => schedule.nextMs(timeMs, zone) }
}

/** A zone within the schedule is from before there was a field for it. */
export function namesZoneInSchedule({ spec }: CronJob): boolean {
  return spec?.schedule?.includes('TZ') === true
}
