/**
 * Whether a Job has come to its end, and to which.
 * Contract: docs/behaviour/controllers/job-controller.md, Sync 15, Status and conditions.
 */
import { parseTime } from '@gyropilot/api'
import type { Job, JobCondition, Pod } from '@gyropilot/api'
import type { PodCounts } from './pods/count-pods.ts'
import { isSuspended } from './job-state.ts'
import { matchFailurePolicy } from './pods/pod-failure-policy.ts'
import { matchSuccessPolicy } from './success-policy.ts'

export interface EndState {
  readonly succeeded: boolean
  readonly reason: string
  readonly message: string
}

export const COMPLETIONS_REACHED: EndState = {
  succeeded: true,
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
}

/** Announces the end; the end itself is written when all pods are counted and gone. */
export function interimCondition({ succeeded }: EndState): 'SuccessCriteriaMet' | 'FailureTarget' {
  return succeeded ? 'SuccessCriteriaMet' : 'FailureTarget'
}

export function terminalCondition({ succeeded }: EndState): 'Complete' | 'Failed' {
  return succeeded ? 'Complete' : 'Failed'
}

/** The first that holds. `startTime` is that of this sync's status. */
export function endStateOf(
  job: Job,
  counts: PodCounts,
  startTime: string | undefined,
  nowMs: number,
): EndState | undefined {
  return (
    announcedEnd(job) ??
    failedByPolicy(job, counts.failedPods) ??
    failedByBackoffLimit(job, counts) ??
    failedByDeadline(job, startTime, nowMs) ??
    failedByIndexes(job, counts) ??
    succeededByPolicy(job, counts)
  )
}

/** Milliseconds until the deadline; undefined: none runs. */
export function untilDeadlineMs(
  job: Job,
  startTime: string | undefined,
  nowMs: number,
): number | undefined {
  const startMs = parseTime(startTime)
  const seconds = job.spec?.activeDeadlineSeconds
  if (isSuspended(job) || seconds === undefined || startMs === undefined) return undefined
  return startMs + Number(seconds) * 1000 - nowMs
}

/** What is stored first wins for good. */
function announcedEnd({ status }: Job): EndState | undefined {
  const of = (type: string): JobCondition | undefined =>
    status?.conditions?.find((entry) => entry.type === type && entry.status === 'True')
  const met = of('SuccessCriteriaMet')
  const found = met ?? of('FailureTarget')
  if (found === undefined) return undefined
  const { reason = '', message = '' } = found
  return { succeeded: met !== undefined, reason, message }
}

function failed(reason: string, message: string): EndState {
  return { succeeded: false, reason, message }
}

/** Of several the pod with the lowest name. */
function failedByPolicy(job: Job, failedPods: readonly Pod[]): EndState | undefined {
  let found: { readonly name: string; readonly message: string } | undefined
  for (const pod of failedPods) {
    const match = matchFailurePolicy(pod, job)
    const name = pod.metadata?.name ?? ''
    if (match?.action === 'FailJob' && (found === undefined || name < found.name))
      found = { name, message: match.message }
  }
  return found && failed('PodFailurePolicy', found.message)
}

function failedByBackoffLimit(job: Job, counts: PodCounts): EndState | undefined {
  const limit = job.spec?.backoffLimit ?? 6
  if (counts.failed <= limit && !restartsReach(limit, job, counts.all)) return undefined
  return failed('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
}

/** Containers that are restarted in place fail no pod: their restarts are counted instead. */
function restartsReach(limit: number, job: Job, pods: readonly Pod[]): boolean {
  if (job.spec?.template.spec?.restartPolicy !== 'OnFailure') return false
  let restarts = 0
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue
    for (const { restartCount = 0 } of status.initContainerStatuses ?? []) restarts += restartCount
    for (const { restartCount = 0 } of status.containerStatuses ?? []) restarts += restartCount
  }
  return limit === 0 ? restarts > 0 : restarts >= limit
}

function failedByDeadline(
  job: Job,
  startTime: string | undefined,
  nowMs: number,
): EndState | undefined {
  const remainingMs = untilDeadlineMs(job, startTime, nowMs)
  if (remainingMs === undefined || remainingMs > 0) return undefined
  return failed('DeadlineExceeded', 'Job was active longer than specified deadline')
}

function failedByIndexes({ spec }: Job, { indexes }: PodCounts): EndState | undefined {
  if (indexes?.failed === undefined || indexes.failed.size === 0) return undefined
  const { size } = indexes.failed
  if (spec?.maxFailedIndexes !== undefined && size > spec.maxFailedIndexes)
    return failed(
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
    )
  if (size + indexes.succeeded.size < (spec?.completions ?? 0)) return undefined
  return failed('FailedIndexes', 'Job has failed indexes')
}

function succeededByPolicy(job: Job, { indexes }: PodCounts): EndState | undefined {
  const message = indexes && matchSuccessPolicy(job, indexes.succeeded)
  return message === undefined ? undefined : { succeeded: true, reason: 'SuccessPolicy', message }
}

/** All that was asked for has succeeded and nothing runs. */
export function isComplete({ spec }: Job, succeeded: number, active: number): boolean {
  if (active > 0) return false
  return spec?.completions === undefined ? succeeded > 0 : succeeded >= spec.completions
}
