/**
 * The end of a Job. SuccessCriteriaMet and FailureTarget only announce it.
 * Contract: docs/behaviour/controllers/job-controller.md, Status and conditions;
 * docs/behaviour/controllers/ttl-after-finished-controller.md, Definitions.
 */
import type { Job, JobCondition } from '@gyropilot/api'

/** The first condition in the order of the list that ends the Job. */
export function jobFinishCondition({ status }: Job): JobCondition | undefined {
  return status?.conditions?.find(
    (condition) =>
      (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  )
}

export function isJobFinished(job: Job): boolean {
  return jobFinishCondition(job) !== undefined
}
