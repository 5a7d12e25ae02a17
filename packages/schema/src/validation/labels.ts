import type { FieldErrors } from '../field-errors.ts'
import { labelValue, qualifiedName } from './names.ts'

/** Kubernetes walks maps in no fixed order; we report by key. */
export function sortedKeys(map: object | null | undefined): string[] {
  return map ? Object.keys(map).toSorted() : []
}

/** Adds one Invalid for each message. */
export function invalidAll(
  errors: FieldErrors,
  field: string,
  value: unknown,
  messages: readonly string[],
): void {
  for (const message of messages) errors.invalid(field, value, message)
}

export function validateLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const key of sortedKeys(labels)) {
    invalidAll(errors, field, key, qualifiedName(key))
    invalidAll(errors, field, labels![key], labelValue(labels![key]!))
  }
}

const ANNOTATIONS_LIMIT_BYTES = 256 * 1024

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | null | undefined,
  errors: FieldErrors,
  field: string,
): void {
  let total = 0
  for (const key of sortedKeys(annotations)) {
    invalidAll(errors, field, key, qualifiedName(key.toLowerCase()))
    total += Buffer.byteLength(key) + Buffer.byteLength(annotations![key] ?? '')
  }
  if (total > ANNOTATIONS_LIMIT_BYTES) errors.tooLong(field, ANNOTATIONS_LIMIT_BYTES)
}

interface LabelSelectorLike {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key?: string
    readonly operator?: string
    readonly values?: readonly string[]
  }[]
}

export function validateLabelSelector(
  selector: LabelSelectorLike | null | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!selector) return
  validateLabels(selector.matchLabels, errors, `${field}.matchLabels`)
  for (const [index, requirement] of (selector.matchExpressions ?? []).entries()) {
    const at = `${field}.matchExpressions[${index}]`
    const values = requirement.values ?? []
    if (requirement.operator === 'In' || requirement.operator === 'NotIn') {
      if (values.length === 0)
        errors.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")
    } else if (requirement.operator === 'Exists' || requirement.operator === 'DoesNotExist') {
      if (values.length > 0)
        errors.forbidden(
          `${at}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        )
    } else
      errors.invalid(`${at}.operator`, requirement.operator ?? '', 'not a valid selector operator')
    invalidAll(errors, `${at}.key`, requirement.key ?? '', qualifiedName(requirement.key ?? ''))
    for (const [position, value] of values.entries()) {
      invalidAll(errors, `${at}.values[${position}]`, value, labelValue(value))
    }
  }
}

/** Whether the selector can be turned into requirements at all: bad keys, values and operators cannot. */
export function isConvertibleSelector(selector: LabelSelectorLike): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (qualifiedName(key).length > 0 || labelValue(value).length > 0) return false
  }
  for (const { key = '', operator = '', values = [] } of selector.matchExpressions ?? []) {
    if (qualifiedName(key).length > 0 || values.some((value) => labelValue(value).length > 0))
      return false
    const list = operator === 'In' || operator === 'NotIn'
    if (!list && operator !== 'Exists' && operator !== 'DoesNotExist') return false
    if (list !== values.length > 0) return false
  }
  return true
}

export function isEmptySelector(selector: LabelSelectorLike): boolean {
  return (
    sortedKeys(selector.matchLabels).length === 0 && (selector.matchExpressions ?? []).length === 0
  )
}

/** Nil matches nothing, empty everything. The selector must be convertible. */
export function selectorMatches(
  selector: LabelSelectorLike | null | undefined,
  labels: Readonly<Record<string, string>> | null | undefined,
): boolean {
  if (!selector) return false
  const has = (key: string): boolean => labels != null && Object.hasOwn(labels, key)
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (!has(key) || labels![key] !== value) return false
  }
  for (const { key = '', operator, values = [] } of selector.matchExpressions ?? []) {
    const present = has(key)
    const matches =
      operator === 'In'
        ? present && values.includes(labels![key]!)
        : operator === 'NotIn'
          ? !present || !values.includes(labels![key]!)
          : operator === 'Exists'
            ? present
            : !present
    if (!matches) return false
  }
  return true
}

/** Taint keys, resource names, condition types and the like. */
export function validateQualifiedName(value: string, errors: FieldErrors, field: string): void {
  invalidAll(errors, field, value, qualifiedName(value))
}
