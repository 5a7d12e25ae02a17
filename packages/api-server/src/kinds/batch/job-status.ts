/** Consistency of a Job's status, as the job controller keeps it. What an update does not touch is not held against it. */
import type { Job, JobSpec, JobStatus } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { givenValue } from '@gyropilot/schema/given-value'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { countIndexes, indexIntervals } from './job-indexes.ts'

const has = (status: StoredOf<JobStatus>, type: string): boolean =>
  (status.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === 'True',
  )
const isFinished = (status: StoredOf<JobStatus>): boolean =>
  has(status, 'Complete') || has(status, 'Failed')

/** What of the status differs from the stored one. */
interface Changes {
  condition(type: string): boolean
  field(name: keyof JobStatus): boolean
  readonly finished: boolean
}

function changesOf(status: StoredOf<JobStatus>, before: StoredOf<JobStatus>): Changes {
  return {
    condition: (type) => has(status, type) !== has(before, type),
    field: (name) => !deepEqual(status[name] ?? null, before[name] ?? null),
    finished: isFinished(status) !== isFinished(before),
  }
}

export function validateJobStatusUpdate(
  object: StoredOf<Job>,
  stored: StoredOf<Job>,
  errors: FieldErrors,
): void {
  const status = object.status ?? {}
  const before = stored.status ?? {}
  const changes = changesOf(status, before)
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const)
    validateNonNegative(status[field], errors, `status.${field}`)
  validateUncounted(status, errors)
  validateTerminalConditions(status, changes, errors)
  validateFinished(object, status, changes, errors)
  validateIndexes(object.spec ?? {}, status, changes, errors)
  validateCounters(status, changes, errors)
  validateSuccessCriteria(object.spec ?? {}, status, errors)
  validateTransitions(object.spec ?? {}, status, before, errors)
}

function validateUncounted(status: StoredOf<JobStatus>, errors: FieldErrors): void {
  const seen = new Set<string>()
  for (const list of ['succeeded', 'failed'] as const) {
    for (const [index, uid] of (status.uncountedTerminatedPods?.[list] ?? []).entries()) {
      const at = `status.uncountedTerminatedPods.${list}[${index}]`
      if (uid === '') errors.invalid(at, uid, 'must not be empty')
      else if (seen.has(uid)) errors.duplicate(at, uid)
      else seen.add(uid)
    }
  }
}

function validateTerminalConditions(
  status: StoredOf<JobStatus>,
  changes: Changes,
  errors: FieldErrors,
): void {
  const refuse = (problem: string): void => errors.invalidOmitted('status.conditions', problem)
  const complete = has(status, 'Complete')
  const { completionTime, startTime } = status
  const completionChanged = changes.condition('Complete') || changes.field('completionTime')
  if (
    (changes.condition('Complete') || changes.condition('Failed')) &&
    complete &&
    has(status, 'Failed')
  )
    refuse('cannot set Complete=True and Failed=true conditions')
  if (
    (changes.condition('Complete') || changes.condition('FailureTarget')) &&
    complete &&
    has(status, 'FailureTarget')
  )
    refuse('cannot set Complete=True and FailureTarget=true conditions')
  if (completionChanged && completionTime && !complete)
    errors.invalid(
      'status.completionTime',
      completionTime,
      'cannot set completionTime when there is no Complete=True condition',
    )
  if (completionChanged && !completionTime && complete)
    errors.required('status.completionTime', 'completionTime is required for Complete jobs')
  if (
    (changes.field('startTime') || changes.field('completionTime')) &&
    startTime &&
    completionTime &&
    Date.parse(completionTime) < Date.parse(startTime)
  )
    errors.invalid('status.completionTime', completionTime, 'must be equal to or after `startTime`')
  if (
    (changes.condition('Failed') || changes.field('failedIndexes')) &&
    has(status, 'Failed') &&
    !has(status, 'FailureTarget')
  )
    refuse('cannot set Failed=True condition without the FailureTarget=true condition')
  if (
    (changes.condition('Complete') || changes.condition('SuccessCriteriaMet')) &&
    complete &&
    !has(status, 'SuccessCriteriaMet')
  )
    refuse('cannot set Complete=True condition without the SuccessCriteriaMet=true condition')
}

function validateFinished(
  object: StoredOf<Job>,
  status: StoredOf<JobStatus>,
  changes: Changes,
  errors: FieldErrors,
): void {
  if (!isFinished(status)) return
  const changed = (field: keyof JobStatus): boolean => changes.finished || changes.field(field)
  if (changed('active') && (status.active ?? 0) > 0)
    errors.invalid('status.active', status.active, 'active>0 is invalid for finished job')
  // Only a Job that has nothing to do is over without ever having begun.
  const { suspend, completions } = object.spec ?? {}
  const neverBegins = suspend === true && completions === 0
  if (changed('startTime') && !status.startTime && !neverBegins)
    errors.required('status.startTime', 'startTime is required for finished job')
  const uncounted = status.uncountedTerminatedPods
  const { succeeded = [], failed = [] } = uncounted ?? {}
  if (changed('uncountedTerminatedPods') && succeeded.length + failed.length > 0)
    errors.invalid(
      'status.uncountedTerminatedPods',
      { Succeeded: givenValue(uncounted, 'succeeded'), Failed: givenValue(uncounted, 'failed') },
      'must be empty for finished job',
    )
}

function validateIndexes(
  spec: StoredOf<JobSpec>,
  status: StoredOf<JobStatus>,
  changes: Changes,
  errors: FieldErrors,
): void {
  const { completions, backoffLimitPerIndex } = spec
  const { completedIndexes: completed = '', failedIndexes: failed } = status
  const completedChanged = changes.field('completedIndexes')
  const failedChanged = changes.field('failedIndexes')
  const check = (name: string, text: string): void => {
    const counted = countIndexes(text, completions!)
    if (typeof counted !== 'number')
      errors.invalid(`status.${name}`, text, `error parsing ${name}: ${counted.problem}`)
  }
  if (completedChanged && completions !== undefined) check('completedIndexes', completed)
  if (
    failedChanged &&
    completions !== undefined &&
    backoffLimitPerIndex !== undefined &&
    failed !== undefined
  )
    check('failedIndexes', failed)
  if (completedChanged && completed !== '' && spec.completionMode !== 'Indexed')
    errors.invalid(
      'status.completedIndexes',
      completed,
      'cannot set non-empty completedIndexes when non-indexed completion mode',
    )
  if (failedChanged && backoffLimitPerIndex === undefined && failed !== undefined)
    errors.invalid(
      'status.failedIndexes',
      failed,
      'cannot set non-null failedIndexes when backoffLimitPerIndex is null',
    )
  if ((completedChanged || failedChanged) && completions !== undefined && failed !== undefined) {
    const shared = firstShared(completed, failed, completions)
    if (shared !== undefined)
      errors.invalid(
        'status.failedIndexes',
        failed,
        `failedIndexes and completedIndexes overlap at index: ${shared}`,
      )
  }
}

/** The lowest index that both lists name; intervals that cannot be read are passed over. */
function firstShared(completed: string, failed: string, completions: number): number | undefined {
  for (const [first, last] of indexIntervals(completed, completions)) {
    for (const [from, to] of indexIntervals(failed, completions))
      if (first <= to && from <= last) return Math.max(first, from)
  }
  return undefined
}

function validateCounters(
  status: StoredOf<JobStatus>,
  changes: Changes,
  errors: FieldErrors,
): void {
  const { terminating = 0, ready, active = 0 } = status
  if ((changes.finished || changes.field('terminating')) && terminating > 0 && isFinished(status))
    errors.invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job')
  if ((changes.field('ready') || changes.field('active')) && ready !== undefined && ready > active)
    errors.invalid('status.ready', ready, 'cannot set more ready pods than active')
}

function validateSuccessCriteria(
  spec: StoredOf<JobSpec>,
  status: StoredOf<JobStatus>,
  errors: FieldErrors,
): void {
  const refuse = (problem: string): void => errors.invalidOmitted('status.conditions', problem)
  const met = has(status, 'SuccessCriteriaMet')
  if (met && has(status, 'Failed'))
    refuse('cannot set SuccessCriteriaMet=True and Failed=true conditions')
  if (met && has(status, 'FailureTarget'))
    refuse('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions')
  if (spec.successPolicy && !met && has(status, 'Complete'))
    refuse('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True')
}

/** What a job has reached it keeps. */
function validateTransitions(
  spec: StoredOf<JobSpec>,
  status: StoredOf<JobStatus>,
  before: StoredOf<JobStatus>,
  errors: FieldErrors,
): void {
  const refuse = (problem: string): void => errors.invalidOmitted('status.conditions', problem)
  for (const type of ['Failed', 'Complete', 'FailureTarget'] as const) {
    if (has(before, type) && !has(status, type))
      refuse(`cannot disable the terminal ${type}=True condition`)
  }
  // A job of indexes whose completions follow its parallelism may be scaled down, and then has fewer.
  const kept =
    spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
      ? (['failed'] as const)
      : (['failed', 'succeeded'] as const)
  for (const name of kept) {
    if ((status[name] ?? 0) < (before[name] ?? 0))
      errors.invalid(`status.${name}`, status[name] ?? 0, `cannot decrease the ${name} counter`)
  }
  const { completionTime, startTime } = status
  if (completionTime && before.completionTime && completionTime !== before.completionTime)
    errors.invalid('status.completionTime', completionTime, 'field is immutable')
  if (before.startTime && startTime !== before.startTime && spec.suspend !== true)
    errors.invalid(
      'status.startTime',
      startTime ?? null,
      'field is immutable for unsuspended job once set',
    )
  if (has(before, 'SuccessCriteriaMet') && !has(status, 'SuccessCriteriaMet'))
    refuse('cannot disable the SuccessCriteriaMet=True condition')
  if (
    has(before, 'Complete') &&
    !has(before, 'SuccessCriteriaMet') &&
    has(status, 'SuccessCriteriaMet')
  )
    refuse('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions')
}
