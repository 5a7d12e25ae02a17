/** Conditions of the shared kind, `metav1.Condition`. */
import type { Condition } from '@gyropilot/api'
import type { StoredOf } from '../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { qualifiedName } from '@gyropilot/schema/validation/names'

const STATUSES = ['False', 'True', 'Unknown']
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/
const BAD_REASON =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
const REASON_MAX = 1024
const MESSAGE_MAX = 32 * 1024

export function validateConditions(
  conditions: readonly StoredOf<Condition>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const seen = new Set<string>()
  for (const [index, condition] of (conditions ?? []).entries()) {
    const { type = '' } = condition
    if (seen.has(type)) errors.duplicate(`${field}[${index}].type`, type)
    seen.add(type)
    validateCondition(condition, errors, `${field}[${index}]`)
  }
}

function validateCondition(
  condition: StoredOf<Condition>,
  errors: FieldErrors,
  field: string,
): void {
  const { type = '', status = '', observedGeneration = 0, reason = '', message = '' } = condition
  invalidAll(errors, `${field}.type`, type, qualifiedName(type))
  if (!STATUSES.includes(status)) errors.notSupported(`${field}.status`, status, STATUSES)
  if (observedGeneration < 0)
    errors.invalid(
      `${field}.observedGeneration`,
      observedGeneration,
      'must be greater than or equal to zero',
    )
  if (!condition['lastTransitionTime']) errors.required(`${field}.lastTransitionTime`)
  if (reason === '') errors.required(`${field}.reason`)
  else {
    if (!REASON.test(reason)) errors.invalid(`${field}.reason`, reason, BAD_REASON)
    if (Buffer.byteLength(reason) > REASON_MAX) errors.tooLong(`${field}.reason`, REASON_MAX)
  }
  if (Buffer.byteLength(message) > MESSAGE_MAX) errors.tooLong(`${field}.message`, MESSAGE_MAX)
}

/** Older kinds of conditions only need types, each once. */
export function validateConditionTypes(
  conditions: readonly StoredOf<Condition>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const seen = new Set<string>()
  for (const [index, { type = '' }] of (conditions ?? []).entries()) {
    const at = `${field}[${index}].type`
    if (seen.has(type)) errors.duplicate(at, type)
    seen.add(type)
    if (type === '') errors.required(at)
  }
}

/** As the server's own type has its fields, and prints them. */
export function inGoOrder(condition: StoredOf<Condition>): StoredOf<Condition> {
  const { type, status, observedGeneration, lastTransitionTime, reason, message } = condition
  const generation = observedGeneration === undefined ? {} : { observedGeneration }
  return { type, status, ...generation, lastTransitionTime, reason, message }
}
