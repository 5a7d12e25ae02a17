/**
 * When a finished Job has been there for long enough.
 * Contract: docs/behaviour/controllers/ttl-after-finished-controller.md, Definitions, Sync 2-4.
 */
import { isTerminating, parseTime } from '@gyropilot/api'
import type { Job } from '@gyropilot/api'
import { isJobFinished, jobFinishCondition } from '../workload-support/job-finish.ts'

/** Whether it is finished, has a TTL, and is not on its way out. A TTL of 0 is one. */
export function needsCleanup(job: Job): boolean {
  return (
    job.spec?.ttlSecondsAfterFinished !== undefined && isJobFinished(job) && !isTerminating(job)
  )
}

/** Throws on a Job that is not to be cleaned up, and on one of which it is not known when it finished. */
export function expiryMs(job: Job): number {
  const { namespace, name } = job.metadata ?? {}
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished
  const finished = jobFinishCondition(job)
  if (ttlSeconds === undefined || finished === undefined)
    throw new Error(`job ${namespace}/${name} should not be cleaned up`)
  const finishedMs = parseTime(finished.lastTransitionTime)
  if (finishedMs === undefined)
    throw new Error(`unable to find the time when the Job ${namespace}/${name} finished`)
  return finishedMs + ttlSeconds * 1000
}
