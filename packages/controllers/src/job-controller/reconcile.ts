/**
 * One sync of a Job. Step numbers are those of docs/behaviour/controllers/job-controller.md; steps 1 (stale cache) and
 * 2 (the Job is gone) are the shell's, 8 is in what was observed.
 */
import { controllerOf, isTerminating, resources, withFinalizer } from '@gyropilot/api'
import type { Job, JobStatus, Pod } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { StaleCacheError, currentTimeMs, elapsedTimeMs, recordEvent } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { claim } from '../workload-support/claim.ts'
import { isJobFinished } from '../workload-support/job-finish.ts'
import { selectorQuery } from '../workload-support/label-selector.ts'
import { countPods } from './pods/count-pods.ts'
import type { PodCounts } from './pods/count-pods.ts'
import { COMPLETIONS_REACHED, endStateOf, isComplete, untilDeadlineMs } from './end-state.ts'
import type { EndState } from './end-state.ts'
import { TRACKING_FINALIZER } from '../workload-support/job-tracking.ts'
import { schedulingGroup } from './gangs/gang-scheduling.ts'
import type { SchedulingGroup } from './gangs/gang-scheduling.ts'
import { externalController, isSuspended } from './job-state.ts'
import { findFormerRelease } from './pods/former-releases.ts'
import { managePods } from './pods/manage-pods.ts'
import type { Managed } from './pods/manage-pods.ts'
import type { JobMemory } from './memory.ts'
import type { JobMetrics, SyncAction } from './metrics.ts'
import type { ObservedJob } from './observe.ts'
import { nextBackoff } from './pods/pod-backoff.ts'
import type { BackoffRecord } from './pods/pod-backoff.ts'
import { endPods } from './pods/removal.ts'
import { suspendedCondition, withCondition } from './status.ts'
import { writeStatus } from './write-status.ts'

export interface JobSettings {
  readonly memory: JobMemory
  readonly metrics: JobMetrics
  /** Feature gate MutableSchedulingDirectivesForSuspendedJobs: a suspended Job has not started. */
  readonly suspensionClearsStart: boolean
}

export function* reconcile(observed: ObservedJob, settings: JobSettings): Reconcile {
  const { key, job, knownFinished } = observed
  // 3.
  if (externalController(job) !== undefined) return
  // 4.
  if (isJobFinished(job)) {
    settings.memory.forget(key)
    return
  }
  // 5.
  if (knownFinished) return
  // 6.
  const mode = job.spec?.completionMode ?? 'NonIndexed'
  if (mode !== 'NonIndexed' && mode !== 'Indexed') {
    const text = 'Skipped Job sync because completion mode is unknown'
    yield* recordEvent(job, 'Warning', 'UnknownCompletionMode', text)
    return
  }
  const startedMs = yield* elapsedTimeMs()
  const { action, ...verdict } = yield* sync(observed, settings, yield* currentTimeMs())
  const durationMs = (yield* elapsedTimeMs()) - startedMs
  // One that is put off until the cache shows more is none yet.
  if (verdict.expected !== true)
    settings.metrics.synced(job, action, verdict.error === undefined, durationMs)
  return verdict
}

interface Synced extends Verdict {
  readonly action: SyncAction
}

function* sync(observed: ObservedJob, settings: JobSettings, nowMs: number): Reconcile<Synced> {
  const { key, job } = observed
  const claimed = yield* claimPods(job, observed.pods())
  if (claimed.error !== undefined) return { action: 'reconciling', error: claimed.error }
  // 9a. That the cache is behind is nothing to alarm anybody for.
  const behind = yield* findFormerRelease(observed, claimed.pods)
  if (behind !== undefined) {
    const expected = behind instanceof StaleCacheError
    return { action: 'reconciling', error: behind, expected }
  }
  const group = yield* schedulingGroup(job, claimed.pods, observed.gang)
  if (group.error !== undefined) return { action: 'reconciling', error: group.error }
  // 10.-12.
  const counts = countPods(job, claimed.pods, observed.awaitedRemovals)
  // 13.
  const startTime = job.status?.startTime ?? (isSuspended(job) ? undefined : formatTime(nowMs))
  // 14.
  const backoff = nextBackoff(observed.backoff, counts.newSucceeded, counts.newFailed)
  // 15.
  const found = endStateOf(job, counts, startTime, nowMs)
  const acted =
    found === undefined
      ? yield* runPods({ observed, counts, backoff, nowMs, settings, group })
      : yield* stopPods(observed, counts, found)
  // 18.
  const status: JobStatus = {
    ...job.status,
    startTime,
    ...(acted.managed && acted.end === undefined
      ? yield* suspension(job, startTime, settings.suspensionClearsStart)
      : {}),
    active: acted.active,
    ready: acted.ready,
    terminating: acted.terminating,
    uncountedTerminatedPods: job.status?.uncountedTerminatedPods ?? {},
  }
  // 19.
  const { memory, metrics } = settings
  const { end } = acted
  const writeError = yield* writeStatus({ key, job, counts, status, end, backoff, memory, metrics })
  const error = writeError ?? acted.error
  const { action } = acted
  if (error !== undefined) return { action, error }
  const waits = [acted.requeueAfterMs, untilDeadlineMs(job, startTime, nowMs)]
  const requeueAfterMs = Math.min(...(waits.filter((ms) => ms !== undefined && ms > 0) as number[]))
  return requeueAfterMs === Infinity ? { action } : { action, requeueAfterMs }
}

/** 9. A pod that was adopted just now has the finalizer, though the cache does not show it. */
function* claimPods(
  job: Job,
  candidates: readonly Pod[],
): Reconcile<{ readonly pods: readonly Pod[]; readonly error?: unknown }> {
  const query = selectorQuery(job.spec?.selector)
  const matches = (pod: Pod): boolean => query.matches(pod.metadata?.labels)
  const finalizers = [TRACKING_FINALIZER]
  const claimed = yield* claim(
    { owner: job, ownerType: resources.jobs, type: resources.pods, matches, finalizers },
    candidates,
  )
  const pods = claimed.objects.map((pod) =>
    controllerOf(pod) === undefined ? withFinalizer(pod, TRACKING_FINALIZER) : pod,
  )
  return { ...claimed, pods }
}

interface Acted {
  readonly end?: EndState
  readonly active: number
  readonly ready: number
  readonly terminating: number
  readonly action: SyncAction
  /** Pods were brought to what the spec asks for, so that the spec's suspension holds. */
  readonly managed: boolean
  readonly error?: unknown
  readonly requeueAfterMs?: number
}

/** 16. The end stands only when every pod that may run has been told to stop. */
function* stopPods(
  { job, expectationsMet }: ObservedJob,
  counts: PodCounts,
  end: EndState,
): Reconcile<Acted> {
  const { count, ready, error } = yield* endPods(job, counts.active)
  return {
    ...(count === counts.active.length && expectationsMet ? { end } : {}),
    active: counts.active.length - count,
    ready: counts.ready - ready,
    terminating: counts.terminating.length + count,
    action: 'reconciling',
    managed: false,
    ...(error === undefined ? {} : { error }),
  }
}

interface RunInput {
  readonly observed: ObservedJob
  readonly counts: PodCounts
  readonly backoff: BackoffRecord
  readonly nowMs: number
  readonly settings: JobSettings
  readonly group: SchedulingGroup
}

/** 17. */
function* runPods({
  observed,
  counts,
  backoff,
  nowMs,
  settings,
  group,
}: RunInput): Reconcile<Acted> {
  const { key, job, expectationsMet } = observed
  const mayManage = expectationsMet && !isTerminating(job)
  const { metrics } = settings
  const managed: Managed = mayManage
    ? yield* managePods({
        key,
        job,
        counts,
        backoff,
        nowMs,
        ...(group.name === undefined ? {} : { podGroupName: group.name }),
        onCreated: (reason, succeeded) => metrics.created(reason, succeeded),
      })
    : { active: counts.active.length, removed: 0, removedReady: 0, action: 'reconciling' }
  const { active, removed, removedReady, ...rest } = managed
  return {
    ...rest,
    ...(isComplete(job, counts.succeeded, active) ? { end: COMPLETIONS_REACHED } : {}),
    active,
    ready: counts.ready - removedReady,
    terminating: counts.terminating.length + removed,
    managed: mayManage,
  }
}

/** The condition, and what a change of it does to the start time. */
function* suspension(
  job: Job,
  startTime: string | undefined,
  clearsStart: boolean,
): Reconcile<Partial<JobStatus>> {
  const before = job.status?.conditions
  const nowMs = yield* currentTimeMs()
  const suspended = isSuspended(job)
  const conditions = withCondition(before, suspendedCondition(suspended), nowMs)
  if (conditions === before) return {}
  const [reason, message] = suspended ? ['Suspended', 'Job suspended'] : ['Resumed', 'Job resumed']
  yield* recordEvent(job, 'Normal', reason, message)
  if (!suspended) return { conditions, startTime: formatTime(nowMs) }
  return { conditions, startTime: clearsStart ? undefined : startTime }
}
