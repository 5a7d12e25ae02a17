/**
 * Bounds of numbers. An integer is compared with bounds that became integers, that is lost their fractions; where the bound cannot
 * be of the schema's type, that is said besides. Contract: docs/behaviour/api-server/custom-resources.md, Value validation.
 */
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { fitsInt64, goFloat, isInt64, isNearInteger, toInt64 } from '@gyropilot/schema/go-number'
import type { Schema } from './structural-schema.ts'

/** The field of a problem that has none of its own: of oneOf, anyOf, allOf, not, and numbers out of range. */
export const NO_FIELD = '<nil>'

type Number64 = number | bigint

interface Place {
  readonly schema: Schema
  readonly path: string
  readonly errors: FieldErrors
}

/** The schema's format is one that its type has, or undefined. */
export function checkNumber(
  value: Number64,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const place = { schema, path, errors }
  const { minimum, maximum, multipleOf } = schema
  checkRange(value, 'Checked', place)
  if (multipleOf !== undefined) checkMultiple(value, multipleOf, place)
  if (maximum !== undefined) checkMaximum(value, maximum, place)
  if (minimum !== undefined) checkMinimum(value, minimum, place)
}

const INT32_LEAST = -2_147_483_648
const INT32_MOST = 2_147_483_647

/** Whether a number can be of the type. */
function checkRange(number: Number64, what: string, { schema, path, errors }: Place): boolean {
  const { type, format } = schema
  if (isInRange(number, schema)) return true
  const shown = format === undefined ? '(default format)' : `with format ${format}`
  errors.invalid(NO_FIELD, '', `${what} value must be of type ${type ?? ''} ${shown} in ${path}`)
  return false
}

function isInRange(number: Number64, { type, format }: Schema): boolean {
  if (type === 'integer')
    return (
      fitsInt64(number) && (format !== 'int32' || (number >= INT32_LEAST && number <= INT32_MOST))
    )
  return format !== 'float' || Number.isFinite(Math.fround(Number(number)))
}

/** Both as integers, or both as floats; and how they are written then. */
interface Compared {
  readonly value: Number64
  readonly bound: Number64
  readonly shown: string
  readonly text: string
}

function compared(value: Number64, given: number, what: string, place: Place): Compared {
  // Bounds are floats, also those that were kept exact.
  const bound = Number(given)
  if (checkRange(bound, what, place) && isInt64(value)) {
    const whole = toInt64(bound)
    return { value: BigInt(value), bound: whole, shown: String(value), text: String(whole) }
  }
  const float = Number(value)
  return { value: float, bound, shown: goFloat(float), text: goFloat(bound) }
}

function checkMultiple(given: Number64, multipleOf: number, place: Place): void {
  const { path, errors } = place
  const { value, bound, shown, text } = compared(given, multipleOf, 'MultipleOf', place)
  if (bound <= 0) {
    const detail = `factor MultipleOf declared for ${path} must be positive: ${text}`
    errors.invalidShown(path, text, detail)
  } else if (!isMultiple(value, bound))
    errors.invalidShown(path, shown, `${path} in body should be a multiple of ${text}`)
}

function isMultiple(value: Number64, factor: Number64): boolean {
  if (typeof value === 'bigint' && typeof factor === 'bigint') return value % factor === 0n
  const [dividend, divisor] = [Number(value), Number(factor)]
  return isNearInteger(divisor < 1 ? (1 / divisor) * dividend : dividend / divisor)
}

function checkMaximum(given: Number64, maximum: number, place: Place): void {
  const { schema, path, errors } = place
  const isExclusive = schema.exclusiveMaximum === true
  const { value, bound, shown, text } = compared(given, maximum, 'Maximum boundary', place)
  if (isExclusive ? value < bound : value <= bound) return
  const limit = `less than ${isExclusive ? '' : 'or equal to '}${text}`
  errors.invalidShown(path, shown, `${path} in body should be ${limit}`)
}

function checkMinimum(given: Number64, minimum: number, place: Place): void {
  const { schema, path, errors } = place
  const isExclusive = schema.exclusiveMinimum === true
  const { value, bound, shown, text } = compared(given, minimum, 'Minimum boundary', place)
  if (isExclusive ? value > bound : value >= bound) return
  const limit = `greater than ${isExclusive ? '' : 'or equal to '}${text}`
  errors.invalidShown(path, shown, `${path} in body should be ${limit}`)
}
