/** One sync of a CronJob. Step numbers are those of docs/behaviour/controllers/cronjob-controller.md; 1 is the shell's. */
import { isTerminating, resources, timeZoneNamed } from '@gyropilot/api'
import type { CronJob, Job, TimeZone } from '@gyropilot/api'
import { currentTimeMs, recordEvent, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { cleanHistory, dropMissing, noteChildren } from './children.ts'
import { CronJobDraft } from './draft.ts'
import { missedTimes, nextDelayMs } from './missed-time.ts'
import { dueTimesOf, namesZoneInSchedule } from './schedule-of.ts'
import { startJob } from './start-job.ts'

export interface ObservedCronJob {
  readonly cronJob: CronJob
  /** Jobs of the namespace whose controller has the CronJob's name, of whatever kind and uid. */
  readonly children: readonly Job[]
}

export interface CronJobSettings {
  readonly localTimeZone: TimeZone
  /** A Job was made, so long after it was due. */
  onJobCreated(skewSeconds: number): void
}

/** Nothing to come back for, and nothing that would make earlier failures good. */
const LEFT_AS_IT_IS: Verdict = { keepsFailures: true }

export function* reconcile(observed: ObservedCronJob, settings: CronJobSettings): Reconcile {
  const draft = new CronJobDraft(observed.cronJob)
  const verdict = yield* sync(draft, observed.children, settings)
  // 18. Also after a step that failed.
  if (draft.isDirty) {
    const updated = yield* write(updateStatus(resources.cronjobs, draft.result()))
    if (!updated.ok) return { error: updated.error }
  }
  return verdict
}

function* sync(
  draft: CronJobDraft,
  children: readonly Job[],
  settings: CronJobSettings,
): Reconcile<Verdict> {
  yield* cleanHistory(draft, children)
  const failure = (yield* noteChildren(draft, children)) ?? (yield* dropMissing(draft, children))
  if (failure !== undefined) return { error: failure }
  const { cronJob } = draft
  const { timeZone, suspend, schedule = '' } = cronJob.spec ?? {}
  const warn = (reason: string, message: string) => recordEvent(cronJob, 'Warning', reason, message)
  // 6.
  if (isTerminating(cronJob)) return LEFT_AS_IT_IS
  // 7.
  if (timeZone !== undefined && timeZoneNamed(timeZone) === undefined) {
    const quoted = JSON.stringify(timeZone)
    yield* warn('UnknownTimeZone', `invalid timeZone: ${quoted}: unknown time zone ${timeZone}`)
    return LEFT_AS_IT_IS
  }
  // 8.
  if (suspend) return LEFT_AS_IT_IS
  // 9.
  if (namesZoneInSchedule(cronJob)) yield* warn('UnsupportedSchedule', zoneInSchedule(schedule))
  const due = dueTimesOf(cronJob, settings.localTimeZone)
  if (typeof due === 'string') {
    yield* warn('UnparseableSchedule', `unparseable schedule: ${JSON.stringify(schedule)} : ${due}`)
    return LEFT_AS_IT_IS
  }
  // 10.
  const nowMs = yield* currentTimeMs()
  const times = missedTimes(cronJob, nowMs, due, true)
  if (typeof times === 'string') {
    yield* warn('InvalidSchedule', `invalid schedule: ${schedule} : ${times}`)
    return LEFT_AS_IT_IS
  }
  const later = (): Verdict => ({ requeueAfterMs: nextDelayMs(draft.result(), nowMs, due) })
  if (times.latestMs === undefined) return later()
  if (times.missed === 'many') yield* warn('TooManyMissedTimes', TOO_MANY_MISSED)
  return yield* startJob({ draft, scheduledMs: times.latestMs, nowMs, later }, settings)
}

const TOO_MANY_MISSED =
  'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew'

/** For CronJobs that still have the zone where it was before there was a field. */
export function zoneInSchedule(schedule: string): string {
  const page = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/'
  return `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} is not officially supported, see ${page} for more details`
}
