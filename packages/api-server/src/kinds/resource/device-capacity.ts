/** How much of a device's capacity one request may take. */
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  DeviceCapacity,
} from '@gyropilot/api'
import { addQuantities, compareQuantities, parseQuantity } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { StoredOf } from '../../registry/kind-rules.ts'
import { validateCount } from './device-fields.ts'

const VALUES_MAX = 10

export function validateCapacity(
  { value = '0', requestPolicy }: StoredOf<DeviceCapacity>,
  isShared: boolean,
  errors: FieldErrors,
  field: string,
): void {
  if (!requestPolicy) return
  const at = `${field}.requestPolicy`
  const { validValues = [], validRange } = requestPolicy
  if (!isShared) errors.forbidden(at, 'allowMultipleAllocations must be true')
  else if (validValues.length > 0 && validRange)
    errors.forbidden(
      at,
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
    )
  else if (validValues.length > 0) validateValues(requestPolicy, String(value), errors, at)
  else if (validRange) validateRange(requestPolicy.default, validRange, String(value), errors, at)
}

function validateValues(
  policy: StoredOf<CapacityRequestPolicy>,
  capacity: string,
  errors: FieldErrors,
  field: string,
): void {
  const values = (policy.validValues ?? []).map(String)
  const at = `${field}.validValues`
  if ((policy.default ?? undefined) === undefined) {
    errors.required(`${field}.default`, 'required when validValues is defined')
    return
  }
  // Of too many none is looked at, not for the default either.
  const looked = validateCount(values, VALUES_MAX, errors, at) ? values : []
  for (const [index, value] of looked.entries()) {
    const place = `${at}[${index}]`
    if (index > 0 && compareQuantities(looked[index - 1]!, value) > 0)
      errors.invalid(place, value, 'values must be sorted in ascending order')
    if (looked.slice(0, index).some((other) => compareQuantities(other, value) === 0))
      errors.duplicate(place, value)
    if (compareQuantities(value, capacity) > 0)
      errors.invalid(place, value, `option is larger than capacity value: ${capacity}`)
  }
  const wanted = String(policy.default)
  if (!looked.some((value) => compareQuantities(value, wanted) === 0))
    errors.invalid(at, wanted, 'default value is not valid according to the requestPolicy')
}

function validateRange(
  wanted: StoredOf<CapacityRequestPolicy>['default'],
  range: StoredOf<CapacityRequestPolicyRange>,
  capacity: string,
  errors: FieldErrors,
  field: string,
): void {
  const at = `${field}.validRange`
  if ((wanted ?? undefined) === undefined)
    errors.required(`${field}.default`, 'required when validRange is defined')
  else if (range.min === undefined)
    errors.required(`${at}.min`, 'required when validRange is defined')
  else {
    const bounds = { wanted: String(wanted), min: String(range.min), capacity }
    validateMinimum(bounds, errors, `${at}.min`)
    if (range.max !== undefined) validateMaximum(String(range.max), bounds, errors, `${at}.max`)
    if (range.step !== undefined) validateStep(range, bounds, errors, `${at}.step`)
  }
}

interface Bounds {
  readonly wanted: string
  readonly min: string
  readonly capacity: string
}

function validateMinimum(
  { wanted, min, capacity }: Bounds,
  errors: FieldErrors,
  field: string,
): void {
  if (compareQuantities(min, capacity) > 0)
    errors.invalid(field, min, `min is larger than capacity value: ${capacity}`)
  if (compareQuantities(wanted, min) < 0)
    errors.invalid(field, wanted, `default is less than min: ${min}`)
}

function validateMaximum(
  max: string,
  { wanted, min, capacity }: Bounds,
  errors: FieldErrors,
  field: string,
): void {
  if (compareQuantities(max, capacity) > 0)
    errors.invalid(field, max, `max is larger than capacity value: ${capacity}`)
  if (compareQuantities(min, max) > 0) errors.invalid(field, min, `min is larger than max: ${max}`)
  if (compareQuantities(wanted, max) > 0)
    errors.invalid(field, wanted, `default is more than max: ${max}`)
}

function validateStep(
  range: StoredOf<CapacityRequestPolicyRange>,
  { wanted, min, capacity }: Bounds,
  errors: FieldErrors,
  field: string,
): void {
  const step = String(range.step)
  const first = addQuantities(min, step)
  if (compareQuantities(first, capacity) > 0)
    errors.invalid(field, step, `one step ${first} is larger than capacity value: ${capacity}`)
  for (const value of range.max === undefined ? [wanted] : [wanted, String(range.max)])
    if (!isReached(value, min, step))
      errors.invalid(
        field,
        value,
        `value is not a multiple of a given step (${step}) from (${min})`,
      )
}

function isReached(value: string, min: string, step: string): boolean {
  const { nanos } = parseQuantity(value).subtract(parseQuantity(min))
  const width = parseQuantity(step).nanos
  return width === 0n ? nanos === 0n : nanos % width === 0n
}
