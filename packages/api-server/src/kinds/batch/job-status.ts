/** Consistency of a Job's status, as the job controller keeps it. */
import type { Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { validateNonNegative } from '../../schema/validation/numbers.ts'

const has = (status: Stored, type: string): boolean =>
  (status.conditions ?? []).some(
    (condition: Stored) => condition.type === type && condition.status === 'True',
  )
const isFinished = (status: Stored): boolean => has(status, 'Complete') || has(status, 'Failed')

export function validateJobStatusUpdate(object: Stored, stored: Stored, errors: FieldErrors): void {
  const status: Stored = object.status ?? {}
  const before: Stored = stored.status ?? {}
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating'])
    validateNonNegative(status[field], errors, `status.${field}`)
  validateUncounted(status, errors)
  validateTimes(object, before, errors)
  validateConditions(status, before, errors)
  if (!isFinished(status)) return
  if ((status.active ?? 0) > 0)
    errors.invalid('status.active', status.active, 'active>0 is invalid for finished job')
  if (
    (status.uncountedTerminatedPods?.failed ?? []).length +
      (status.uncountedTerminatedPods?.succeeded ?? []).length >
    0
  ) {
    errors.invalid(
      'status.uncountedTerminatedPods',
      status.uncountedTerminatedPods,
      'uncountedTerminatedPods needs to be empty for finished job',
    )
  }
  if ((status.terminating ?? 0) > 0)
    errors.invalid(
      'status.terminating',
      status.terminating,
      'terminating>0 is invalid for finished job',
    )
}

function validateUncounted(status: Stored, errors: FieldErrors): void {
  const seen = new Set<string>()
  for (const list of ['succeeded', 'failed']) {
    for (const [index, uid] of (status.uncountedTerminatedPods?.[list] ?? []).entries()) {
      const at = `status.uncountedTerminatedPods.${list}[${index}]`
      if (seen.has(uid)) errors.duplicate(at, uid)
      else if (uid === '') errors.invalid(at, uid, 'must not be empty')
      seen.add(uid)
    }
  }
}

function validateTimes(object: Stored, before: Stored, errors: FieldErrors): void {
  const status: Stored = object.status ?? {}
  if (status.completionTime && !has(status, 'Complete'))
    errors.invalid(
      'status.completionTime',
      status.completionTime,
      'completionTime can only be set when Complete condition',
    )
  if (has(status, 'Complete') && !status.completionTime)
    errors.required('status.completionTime', 'completionTime is required for Complete jobs')
  if (before.completionTime && status.completionTime !== before.completionTime)
    errors.invalid('status.completionTime', status.completionTime ?? null, 'field is immutable')
  if (before.startTime && status.startTime !== before.startTime && object.spec?.suspend !== true) {
    if (status.startTime)
      errors.required('status.startTime', 'startTime cannot be modified for unsuspended job')
    else errors.required('status.startTime', 'startTime cannot be removed for unsuspended job')
  }
  if (isFinished(status) && !status.startTime && !object.spec?.suspend)
    errors.required('status.startTime', 'startTime is required for finished job')
  if (
    status.startTime &&
    status.completionTime &&
    Date.parse(status.completionTime) < Date.parse(status.startTime)
  ) {
    errors.invalid(
      'status.completionTime',
      status.completionTime,
      'completionTime cannot be set before startTime',
    )
  }
}

function validateConditions(status: Stored, before: Stored, errors: FieldErrors): void {
  const at = 'status.conditions'
  if (has(status, 'Complete') && has(status, 'Failed'))
    errors.invalid(at, status.conditions, 'cannot set Complete=True and Failed=true conditions')
  if (has(status, 'Complete') && has(status, 'FailureTarget'))
    errors.invalid(
      at,
      status.conditions,
      'cannot set Complete=True and FailureTarget=true conditions',
    )
  for (const type of ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet']) {
    if (has(before, type) && !has(status, type))
      errors.invalid(
        at,
        status.conditions ?? null,
        `cannot disable the terminal ${type}=True condition`,
      )
  }
  if (has(status, 'Failed') && !has(before, 'Failed') && !has(status, 'FailureTarget')) {
    errors.invalid(
      at,
      status.conditions,
      'cannot set Failed=True condition without the FailureTarget=true condition',
    )
  }
  if (has(status, 'Complete') && !has(before, 'Complete') && !has(status, 'SuccessCriteriaMet')) {
    errors.invalid(
      at,
      status.conditions,
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    )
  }
}
