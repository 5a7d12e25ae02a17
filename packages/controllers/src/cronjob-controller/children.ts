/**
 * The Jobs that a CronJob has made: which are active, which are old enough to go. Step numbers are those of
 * docs/behaviour/controllers/cronjob-controller.md, Sync.
 */
import { isConditionTrue, parseTime, resources } from '@gyropilot/api'
import type { CronJob, Job } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { compareStrings, errorText } from '@gyropilot/foundation'
import { getLive, recordEvent, remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { isActiveIn } from './draft.ts'
import type { CronJobDraft } from './draft.ts'

type FinishedAs = 'Complete' | 'Failed'

export function finishedAs({ status }: Job): FinishedAs | undefined {
  if (isConditionTrue(status?.conditions, 'Complete')) return 'Complete'
  return isConditionTrue(status?.conditions, 'Failed') ? 'Failed' : undefined
}

/** 3. Each kind of finished Job down to its limit, the oldest first. */
export function* cleanHistory(draft: CronJobDraft, children: readonly Job[]): Reconcile<void> {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = draft.cronJob.spec ?? {}
  const limits = { Complete: successfulJobsHistoryLimit, Failed: failedJobsHistoryLimit }
  for (const kind of ['Complete', 'Failed'] as const) {
    const limit = limits[kind]
    if (limit === undefined) continue
    const finished = children.filter((job) => finishedAs(job) === kind).sort(byStart)
    for (const job of finished.slice(0, Math.max(0, finished.length - limit)))
      yield* deleteJob(draft, job)
  }
}

function byStart(a: Job, b: Job): number {
  const startMs = ({ status }: Job): number => parseTime(status?.startTime) ?? Infinity
  const [left, right] = [startMs(a), startMs(b)]
  if (left !== right) return left < right ? -1 : 1
  return compareStrings(a.metadata?.name ?? '', b.metadata?.name ?? '')
}

/**
 * Whether it came about; either way there is an event, but for a Job that was gone before: a cache may show for a while what the last
 * sync deleted. `options.due`: a Job whose time has come waits for it.
 */
export function* deleteJob(
  draft: CronJobDraft,
  job: Job,
  options: { readonly due?: boolean } = {},
): Reconcile<boolean> {
  const { cronJob } = draft
  const deletion = { propagationPolicy: 'Background', ...options } as const
  const outcome = yield* write(remove(resources.jobs, job, deletion))
  const { name, uid } = job.metadata ?? {}
  if (outcome.ok) {
    draft.deactivate(uid)
    yield* recordEvent(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`)
    return true
  }
  if (isNotFound(outcome.error)) {
    if (draft.isActive(uid)) draft.deactivate(uid)
    return true
  }
  const message = `Deleted job: ${errorText(outcome.error)}`
  yield* recordEvent(cronJob, 'Warning', 'FailedDelete', message)
  return false
}

/** 4. Goes on with the live object where that knows a Job that the cache does not. Answers the error that ends the sync. */
export function* noteChildren(draft: CronJobDraft, children: readonly Job[]): Reconcile<unknown> {
  for (const job of children) {
    const { name, uid } = job.metadata ?? {}
    const finished = finishedAs(job)
    const isActive = draft.isActive(uid)
    if (finished === undefined && !isActive) {
      const live = yield* liveCronJob(draft.cronJob)
      if ('error' in live) return live.error
      if (isActiveIn(live.cronJob, uid)) draft.renew(live.cronJob)
      else {
        const message = `Saw a job that the controller did not create or forgot: ${name}`
        yield* recordEvent(draft.cronJob, 'Warning', 'UnexpectedJob', message)
      }
    } else if (finished !== undefined && isActive) {
      draft.deactivate(uid)
      const message = `Saw completed job: ${name}, condition: ${finished}`
      yield* recordEvent(draft.cronJob, 'Normal', 'SawCompletedJob', message)
    }
    if (finished === 'Complete') draft.succeeded(job)
  }
  return undefined
}

function* liveCronJob(
  cronJob: CronJob,
): Reconcile<{ readonly cronJob: CronJob } | { readonly error: unknown }> {
  const { namespace, name = '' } = cronJob.metadata ?? {}
  const live = yield* getLive(resources.cronjobs, namespace, name)
  return live.ok ? { cronJob: live.object } : { error: live.error }
}

/** 5. Never on the word of the cache alone: it may not have seen the Job yet. Answers the error that ends the sync. */
export function* dropMissing(draft: CronJobDraft, children: readonly Job[]): Reconcile<unknown> {
  const present = new Set(children.map(({ metadata }) => metadata?.uid))
  for (const { namespace, name = '', uid } of draft.active) {
    if (present.has(uid)) continue
    const live = yield* getLive(resources.jobs, namespace, name)
    if (live.ok) continue
    if (!isNotFound(live.error)) return live.error
    const message = `Active job went missing: ${name}`
    yield* recordEvent(draft.cronJob, 'Normal', 'MissingJob', message)
    draft.deactivate(uid)
  }
  return undefined
}
