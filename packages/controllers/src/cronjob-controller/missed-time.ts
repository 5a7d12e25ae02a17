/**
 * Which due time to run, and when to look again.
 * Contract: docs/behaviour/controllers/cronjob-controller.md, Missed-time calculation.
 */
import { parseTime } from '@gyropilot/api'
import type { CronJob } from '@gyropilot/api'
import { DELAY_PADDING_MS, MANY_MISSED } from './config.ts'
import type { DueTimes } from './schedule-of.ts'

export interface MissedTimes {
  /** From where was looked: the last run, or the creation; with a deadline not before it. */
  readonly earliestMs: number
  /** The newest due time that has passed. */
  readonly latestMs?: number
  readonly missed: 'none' | 'few' | 'many'
}

/** Words for a schedule that has no two times that follow one another. */
const NO_TWO_TIMES = 'time difference between two schedules is less than 1 second'

/** `usesDeadline`: what is further back than startingDeadlineSeconds counts as never due. */
export function missedTimes(
  cronJob: CronJob,
  nowMs: number,
  due: DueTimes,
  usesDeadline: boolean,
): MissedTimes | string {
  const earliestMs = earliestOf(cronJob, nowMs, usesDeadline)
  const firstMs = due.after(earliestMs)
  const secondMs = firstMs === undefined ? undefined : due.after(firstMs)
  if (firstMs !== undefined && nowMs < firstMs) return { earliestMs, missed: 'none' }
  if (firstMs === undefined || secondMs === undefined) return NO_TWO_TIMES
  if (nowMs < secondMs) return { earliestMs, latestMs: firstMs, missed: 'few' }
  const stepMs = Math.round((secondMs - firstMs) / 1_000) * 1_000
  if (stepMs < 1_000) return NO_TWO_TIMES
  const count = Math.floor((nowMs - firstMs) / stepMs) + 1
  const missed = count > MANY_MISSED ? 'many' : 'few'
  // Near the end already: not every time of a year is walked through.
  const latestMs = lastBefore(nowMs, firstMs + (count - 2) * stepMs, due)
  return { earliestMs, missed, ...(latestMs !== undefined && { latestMs }) }
}

function earliestOf(
  { metadata, spec, status }: CronJob,
  nowMs: number,
  usesDeadline: boolean,
): number {
  const lastMs = parseTime(status?.lastScheduleTime ?? metadata?.creationTimestamp) ?? 0
  const { startingDeadlineSeconds } = spec ?? {}
  if (!usesDeadline || startingDeadlineSeconds === undefined) return lastMs
  return Math.max(lastMs, nowMs - Number(startingDeadlineSeconds) * 1_000)
}

/** The last due time up to now; a schedule that is irregular may have none between. */
function lastBefore(nowMs: number, fromMs: number, due: DueTimes): number | undefined {
  let found: number | undefined
  for (let next = due.after(fromMs); next !== undefined && next <= nowMs; next = due.after(next))
    found = next
  return found
}

/** How long until the next due time. */
export function nextDelayMs(cronJob: CronJob, nowMs: number, due: DueTimes): number {
  const times = missedTimes(cronJob, nowMs, due, false)
  const baseMs = typeof times === 'string' ? nowMs : baseOf(times, nowMs)
  return (due.after(baseMs) ?? nowMs) + DELAY_PADDING_MS - nowMs
}

function baseOf({ latestMs, missed, earliestMs }: MissedTimes, nowMs: number): number {
  return latestMs ?? (missed === 'none' ? earliestMs : nowMs)
}
