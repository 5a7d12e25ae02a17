import type { FieldErrors } from '../field-errors.ts'
import { percentString, portName } from './names.ts'
import { invalidAll } from './labels.ts'

export const NON_NEGATIVE = 'must be greater than or equal to 0'
export const INT32_MAX = 2147483647

export function validateNonNegative(
  value: number | bigint | null | undefined,
  errors: FieldErrors,
  field: string,
): void {
  // Compared as it is: an int64 may be a bigint.
  if (isNumber(value) && value < 0) errors.invalid(field, value, NON_NEGATIVE)
}

export function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

export function rangeMessage(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`
}

export function validateRange(
  value: number | bigint,
  low: number,
  high: number,
  errors: FieldErrors,
  field: string,
): void {
  if (!(value >= low && value <= high)) errors.invalid(field, value, rangeMessage(low, high))
}

export function validatePortNumber(
  value: number | undefined,
  errors: FieldErrors,
  field: string,
): void {
  validateRange(value ?? 0, 1, 65535, errors, field)
}

/** A number or a name of a port. */
export function validatePortOrName(value: unknown, errors: FieldErrors, field: string): void {
  if (typeof value === 'string') invalidAll(errors, field, value, portName(value))
  else validatePortNumber(typeof value === 'number' ? value : 0, errors, field)
}

/** A number >= 0, or a percentage. */
export function validateIntOrPercent(value: unknown, errors: FieldErrors, field: string): void {
  if (typeof value === 'string') invalidAll(errors, field, value, percentString(value))
  else validateNonNegative(typeof value === 'number' ? value : 0, errors, field)
}

function percentOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || percentString(value).length > 0) return undefined
  return Number(value.slice(0, -1))
}

export function validateAtMost100Percent(value: unknown, errors: FieldErrors, field: string): void {
  const percent = percentOf(value)
  if (percent !== undefined && percent > 100)
    errors.invalid(field, value, 'must not be greater than 100%')
}

/** Zero as a number or as a percentage; text that is neither counts as zero, as in Kubernetes. */
export function isZeroIntOrPercent(value: unknown): boolean {
  if (typeof value !== 'string') return (value ?? 0) === 0
  return (percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0)) === 0
}
