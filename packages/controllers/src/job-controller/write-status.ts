/**
 * Writes the status around the release of finished pods, and ends the Job when all is counted.
 * Contract: docs/behaviour/controllers/job-controller.md, Tracking and status write 5-7.
 */
import { resources } from '@gyropilot/api'
import type { Job, JobStatus } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, recordEvent, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { uidOf } from './pods/count-pods.ts'
import type { PodCounts } from './pods/count-pods.ts'
import { interimCondition, terminalCondition } from './end-state.ts'
import type { EndState } from './end-state.ts'
import type { JobMemory } from './memory.ts'
import type { JobMetrics } from './metrics.ts'
import type { BackoffRecord } from './pods/pod-backoff.ts'
import { releasePods } from './pods/removal.ts'
import { isStatusCurrent, wireStatus, withCondition, withTrueCondition } from './status.ts'
import { foldReleased, trackFinished } from './track-finished.ts'

interface WriteStatusInput {
  readonly key: string
  readonly job: Job
  readonly counts: PodCounts
  readonly status: JobStatus
  readonly end: EndState | undefined
  readonly backoff: BackoffRecord
  readonly memory: JobMemory
  readonly metrics: JobMetrics
}

/** Returns the first error. */
export function* writeStatus(input: WriteStatusInput): Reconcile<unknown> {
  const { key, job, counts, end, memory, metrics } = input
  const uid = job.metadata?.uid ?? ''
  const tracked = trackFinished(input)
  const announced = end === undefined ? tracked.status : yield* announce(tracked.status, end)
  const first = yield* putStatus(job, announced, metrics)
  if ('error' in first) return first.error
  memory.setBackoff(key, uid, input.backoff)
  if (first.job !== job)
    metrics.indexesCounted(job, tracked.newSucceededIndexes, tracked.newFailedIndexes)
  for (const action of tracked.policyActions) metrics.failureHandled(action)

  const released = tracked.release.map(uidOf)
  memory.expectRemovals(key, uid, released)
  const outcomes = yield* releasePods(tracked.release)
  const held = new Set(counts.held.map(uidOf))
  let releaseError: unknown
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.ok) held.delete(released[index]!)
    else {
      memory.removalFailed(key, released[index]!)
      releaseError ??= outcome.error
    }
  }
  const folded = foldReleased(first.job.status ?? {}, held)
  if (releaseError !== undefined) {
    yield* putStatus(first.job, folded, metrics)
    return releaseError
  }
  // Without a limit every pod has been released and counted; one that has not ended by itself must be gone, too.
  if (end === undefined || tracked.limited || (folded.terminating ?? 0) > 0) {
    const last = yield* putStatus(first.job, folded, metrics)
    return 'error' in last ? last.error : undefined
  }
  return yield* finish(input, first.job, folded, end)
}

function* announce(status: JobStatus, end: EndState): Reconcile<JobStatus> {
  const { reason, message } = end
  const condition = { type: interimCondition(end), reason, message }
  const nowMs = yield* currentTimeMs()
  return { ...status, conditions: withTrueCondition(status.conditions, condition, nowMs) }
}

function* finish(
  { key, memory, metrics }: WriteStatusInput,
  job: Job,
  status: JobStatus,
  end: EndState,
): Reconcile<unknown> {
  const { reason, message, succeeded } = end
  const nowMs = yield* currentTimeMs()
  const condition = { type: terminalCondition(end), status: 'True', reason, message } as const
  const ended = yield* putStatus(
    job,
    {
      ...status,
      conditions: withCondition(status.conditions, condition, nowMs),
      ...(succeeded ? { completionTime: formatTime(nowMs) } : {}),
    },
    metrics,
  )
  if ('error' in ended) return ended.error
  memory.markFinished(key, job.metadata?.uid ?? '')
  metrics.finished(job, end)
  if (!succeeded) {
    yield* recordEvent(ended.job, 'Warning', reason, message)
    return undefined
  }
  const { completions } = job.spec ?? {}
  if (completions !== undefined && (status.succeeded ?? 0) > completions) {
    const text = 'Too many succeeded pods running after completion count reached'
    yield* recordEvent(ended.job, 'Warning', 'TooManySucceededPods', text)
  }
  yield* recordEvent(ended.job, 'Normal', 'Completed', 'Job completed')
  return undefined
}

/** With the version that was read: whoever wrote in between is not overwritten. Nothing is sent when nothing has changed. */
function* putStatus(
  job: Job,
  status: JobStatus,
  metrics: JobMetrics,
): Reconcile<{ readonly job: Job } | { readonly error: unknown }> {
  if (isStatusCurrent(job, status)) return { job }
  const next: Job = { ...job, status: wireStatus(status) }
  const outcome = yield* write(updateStatus(resources.jobs, next))
  if (!outcome.ok) return { error: outcome.error }
  const counted = (name: 'succeeded' | 'failed'): number =>
    (status[name] ?? 0) - (job.status?.[name] ?? 0)
  metrics.podsCounted(job, counted('succeeded'), counted('failed'))
  return { job: outcome.object }
}
