/**
 * Status of a Job.
 * Contract: docs/behaviour/controllers/job-controller.md, Status and conditions.
 */
import { deepEqual, findCondition } from '@gyropilot/api'
import type { Job, JobCondition, JobStatus } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'

type NewCondition = Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>

/**
 * The condition takes the place of the first of its type, whoever wrote that. While it says the same nothing changes; one that would
 * say that something never seen is not so is not made.
 */
export function withCondition(
  conditions: readonly JobCondition[] | undefined,
  condition: NewCondition,
  nowMs: number,
): readonly JobCondition[] | undefined {
  const current = findCondition(conditions, condition.type)
  if (current !== undefined && saysTheSame(current, condition)) return conditions
  if (current === undefined && condition.status === 'False') return conditions
  const entry = stamped(condition, nowMs)
  if (current === undefined) return [...(conditions ?? []), entry]
  return conditions?.map((existing) => (existing === current ? entry : existing))
}

function saysTheSame(one: NewCondition, other: NewCondition): boolean {
  return (
    one.status === other.status &&
    (one.reason ?? '') === (other.reason ?? '') &&
    (one.message ?? '') === (other.message ?? '')
  )
}

/** Beside one of its type that is not true, which can only be a user's. */
export function withTrueCondition(
  conditions: readonly JobCondition[] | undefined,
  condition: Omit<NewCondition, 'status'>,
  nowMs: number,
): readonly JobCondition[] {
  const isThere = conditions?.some(
    ({ type, status }) => type === condition.type && status === 'True',
  )
  if (conditions !== undefined && isThere) return conditions
  return [...(conditions ?? []), stamped({ ...condition, status: 'True' }, nowMs)]
}

function stamped(condition: NewCondition, nowMs: number): JobCondition {
  const now = formatTime(nowMs)
  return { ...condition, lastProbeTime: now, lastTransitionTime: now }
}

export function suspendedCondition(suspended: boolean): NewCondition {
  return suspended
    ? { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }
    : { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' }
}

/** As the wire has it: counters that are zero and lists that are empty are absent, those that are pointers stay. */
export function wireStatus(status: JobStatus): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const written: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(status))
    if (value !== undefined && !(OMITTED_WHEN_EMPTY.has(field) && !value)) written[field] = value
  if (status.conditions?.length === 0) delete written['conditions']
  if (status.uncountedTerminatedPods !== undefined)
    written['uncountedTerminatedPods'] = {
      ...(succeeded.length === 0 ? {} : { succeeded }),
      ...(failed.length === 0 ? {} : { failed }),
    }
  return written
}

const OMITTED_WHEN_EMPTY = new Set(['active', 'succeeded', 'failed', 'completedIndexes'])

export function isStatusCurrent({ status = {} }: Job, next: JobStatus): boolean {
  return deepEqual(wireStatus(status), wireStatus(next))
}
