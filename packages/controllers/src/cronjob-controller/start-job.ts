/**
 * A due time, and what the policies make of it. Step numbers are those of docs/behaviour/controllers/cronjob-controller.md, Sync.
 */
import { isControlledBy, parseTime, resources } from '@gyropilot/api'
import { hasCause, isAlreadyExists } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import { create, getLive, recordEvent, writeAside } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { deleteJob, finishedAs } from './children.ts'
import type { CronJobDraft } from './draft.ts'
import { jobFor, jobName } from './job-for.ts'

interface DueJob {
  readonly draft: CronJobDraft
  readonly scheduledMs: number
  readonly nowMs: number
  /** Back at the next due time. */
  later(): Verdict
}

interface StartSettings {
  onJobCreated(skewSeconds: number): void
}

const LEFT_AS_IT_IS: Verdict = { keepsFailures: true }

export function* startJob(due: DueJob, settings: StartSettings): Reconcile<Verdict> {
  const { draft, scheduledMs, nowMs, later } = due
  const { cronJob } = draft
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec ?? {}
  // 11.
  if (
    startingDeadlineSeconds !== undefined &&
    scheduledMs + Number(startingDeadlineSeconds) * 1_000 < nowMs
  ) {
    const message = `Missed scheduled time to start a job: ${rfc1123(scheduledMs)}`
    yield* recordEvent(cronJob, 'Warning', 'MissSchedule', message)
    return later()
  }
  // 12.
  const isHandled =
    draft.hasActiveNamed(jobName(cronJob, scheduledMs)) || draft.lastScheduleMs === scheduledMs
  if (isHandled) return later()
  // 13. The time is not used up: when the other one ends within the deadline, this one starts.
  if (concurrencyPolicy === 'Forbid' && draft.active.length > 0) {
    const message =
      'Not starting job because prior execution is running and concurrency policy is Forbid'
    yield* recordEvent(cronJob, 'Normal', 'JobAlreadyActive', message)
    return later()
  }
  // 14.
  if (concurrencyPolicy === 'Replace') {
    const failure = yield* endActive(draft)
    if (failure !== undefined) return { error: failure }
  }
  // 15. to 17.
  return yield* createJob(due, settings)
}

/** Answers the error that ends the sync. */
function* endActive(draft: CronJobDraft): Reconcile<unknown> {
  for (const { namespace, name = '' } of draft.active) {
    const live = yield* getLive(resources.jobs, namespace, name)
    if (!live.ok) {
      const message = `Get job: ${errorText(live.error)}`
      yield* recordEvent(draft.cronJob, 'Warning', 'FailedGet', message)
      return live.error
    }
    if (!(yield* deleteJob(draft, live.object, { due: true })))
      return new Error(`could not replace job ${namespace}/${name}`)
  }
  return undefined
}

function* createJob(
  { draft, scheduledMs, later }: DueJob,
  { onJobCreated }: StartSettings,
): Reconcile<Verdict> {
  const { cronJob } = draft
  const job = jobFor(cronJob, scheduledMs)
  // Very many may be due at this minute: their Jobs come before what is only told of this one.
  const created = yield* writeAside(create(resources.jobs, job, { due: true, metadataOnly: true }))
  if (created.ok) {
    const madeMs = parseTime(created.object.metadata?.creationTimestamp)
    if (madeMs !== undefined) onJobCreated((madeMs - scheduledMs) / 1_000)
    const message = `Created job ${created.object.metadata?.name}`
    yield* recordEvent(cronJob, 'Normal', 'SuccessfulCreate', message)
    draft.scheduled(created.object, scheduledMs)
    return later()
  }
  // 16.
  if (hasCause(created.error, 'NamespaceTerminating')) return { error: created.error }
  if (!isAlreadyExists(created.error)) {
    const message = `Error creating job: ${errorText(created.error)}`
    yield* recordEvent(cronJob, 'Warning', 'FailedCreate', message)
    return { error: created.error }
  }
  // An earlier try that never came to write the status, or somebody else's.
  const { namespace } = cronJob.metadata ?? {}
  const existing = yield* getLive(resources.jobs, namespace, jobName(cronJob, scheduledMs))
  if (!existing.ok) return { error: existing.error }
  if (!isControlledBy(existing.object, cronJob)) return LEFT_AS_IT_IS
  if (draft.isActive(existing.object.metadata?.uid)) return LEFT_AS_IT_IS
  // As an active one it would be seen to complete, and told of, once more.
  if (finishedAs(existing.object) === undefined) draft.scheduled(existing.object, scheduledMs)
  else draft.timeUsed(scheduledMs)
  return later()
}

/** RFC 1123 with a numeric zone, in UTC: `Thu, 01 Jan 2026 00:00:00 +0000`. */
function rfc1123(timeMs: number): string {
  return new Date(timeMs).toUTCString().replace(/GMT$/, '+0000')
}
