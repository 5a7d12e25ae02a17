/** Field errors as kube-apiserver words them; turned into a Status with causes at the edge. Contract: docs/behaviour/api-server/requests.md. */
import { escapeHtml, stringifyExact } from '@gyropilot/foundation/exact-json'
import { goNumber } from './go/go-number.ts'
import { goQuote } from './go/go-quote.ts'

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid'

export interface FieldError {
  readonly type: FieldErrorType
  /** `spec.containers[0].name` */
  readonly field: string
  /** Without the field: `Invalid value: "x": must be ...`. */
  readonly message: string
}

/** Collects all errors of an object, in the order in which they were found. */
export class FieldErrors {
  readonly list: FieldError[] = []

  required(field: string, detail = ''): void {
    this.#add('FieldValueRequired', field, withDetail('Required value', detail))
  }

  invalid(field: string, value: unknown, detail: string): void {
    this.#add('FieldValueInvalid', field, withDetail(`Invalid value: ${printValue(value)}`, detail))
  }

  typeInvalid(field: string, value: unknown, detail: string): void {
    this.#add('FieldValueTypeInvalid', field, `Invalid value: ${printValue(value)}: ${detail}`)
  }

  notSupported(field: string, value: unknown, supported: readonly string[]): void {
    const list = supported.map((text) => goQuote(text)).join(', ')
    this.#add(
      'FieldValueNotSupported',
      field,
      `Unsupported value: ${printValue(value)}: supported values: ${list}`,
    )
  }

  forbidden(field: string, detail = ''): void {
    this.#add('FieldValueForbidden', field, withDetail('Forbidden', detail))
  }

  /** `shown` instead of the value: how it is printed is not up to its form. */
  invalidShown(field: string, shown: string, detail: string): void {
    this.#add('FieldValueInvalid', field, `Invalid value: ${shown}: ${detail}`)
  }

  /** An invalid part that is too large to print. */
  invalidOmitted(field: string, detail: string): void {
    this.#add('FieldValueInvalid', field, `Invalid value: ${detail}`)
  }

  duplicate(field: string, value: unknown, detail = ''): void {
    this.#add(
      'FieldValueDuplicate',
      field,
      withDetail(`Duplicate value: ${printValue(value)}`, detail),
    )
  }

  /** A duplicate that is too large to print. */
  duplicateOmitted(field: string): void {
    this.#add('FieldValueDuplicate', field, 'Duplicate value')
  }

  notFound(field: string, value: unknown, detail = ''): void {
    this.#add('FieldValueNotFound', field, withDetail(`Not found: ${printValue(value)}`, detail))
  }

  tooLong(field: string, maximumBytes: number): void {
    const limit = `may not be more than ${maximumBytes} ${maximumBytes === 1 ? 'byte' : 'bytes'}`
    const detail = maximumBytes < 0 ? 'value is too long' : limit
    this.#add('FieldValueTooLong', field, `Too long: ${detail}`)
  }

  tooMany(field: string, actual: number, maximum: number): void {
    const limit = `must have at most ${maximum} ${maximum === 1 ? 'item' : 'items'}`
    const detail = maximum < 0 ? 'has too many items' : limit
    this.#add('FieldValueTooMany', field, `Too many: ${actual}: ${detail}`)
  }

  internal(field: string, detail: string): void {
    this.#add('InternalError', field, `Internal error: ${detail}`)
  }

  #add(type: FieldErrorType, field: string, message: string): void {
    this.list.push({ type, field, message })
  }
}

function withDetail(message: string, detail: string): string {
  return detail === '' ? message : `${message}: ${detail}`
}

/** Values as they appear in messages: strings quoted, null as `null`, objects as Go's JSON, which escapes for HTML. */
function printValue(value: unknown): string {
  if (value === undefined) return 'null'
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  return escapeHtml(stringifyExact(value))
}
