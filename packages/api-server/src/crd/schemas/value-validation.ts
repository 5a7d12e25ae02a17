/**
 * Checks values against a schema. On an update, parts that are equal to the stored ones at the same place are tolerated,
 * when the schema tells what corresponds to what.
 * Contract: docs/behaviour/api-server/custom-resources.md, Value validation and Ratcheting.
 */
import { deepEqual } from '@gyropilot/api'
import { ownValue } from '../../registry/equality.ts'
import { compileRegularExpression, TooMuchToMatch } from '@gyropilot/cel/regular-expressions'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { goQuote } from '@gyropilot/schema/go-quote'
import { isKnownFormat, matchesFormat } from '@gyropilot/schema/formats'
import { isInt64, isNearInteger, toInt64 } from '@gyropilot/schema/go-number'
import {
  additionalOf,
  childPath,
  isIntOrString,
  isObject,
  itemsOf,
  propertyOf,
} from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'
import { escapeHtml, stringifyExact } from '@gyropilot/foundation/exact-json'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import { checkNumber, NO_FIELD } from './number-validation.ts'
import { isUnchanged, storedAt, storedField, storedItems } from './stored-values.ts'
import type { StoredValue } from './stored-values.ts'

/** `old` is the stored value at the same place; undefined when there is none to compare with. What several branches say is told once. */
export function validateValue(
  value: unknown,
  old: unknown,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const found = new FieldErrors()
  checkChanged(value, storedAt(old, schema), schema, path, found)
  const told = new Set<string>()
  for (const problem of found.list) {
    const text = `${problem.field}: ${problem.message}`
    if (!told.has(text)) errors.list.push(problem)
    told.add(text)
  }
}

/** A value that is checked for itself: texts name what is below it, fields where it stands. An item's place is a name of its own: `default.[0].a`. */
export function validateValueAt(
  at: string,
  value: unknown,
  old: unknown,
  schema: Schema,
  errors: FieldErrors,
): void {
  const own = new FieldErrors()
  validateValue(value, old, schema, '', own)
  for (const error of own.list) {
    const isOwn = error.field === '' || error.field === NO_FIELD
    errors.list.push({ ...error, field: isOwn ? at : childOf(at, error.field) })
  }
}

function childOf(at: string, field: string): string {
  return field.startsWith('.') ? `${at}${field}` : `${at}.${field}`
}

/** Of branches of a combination only what is below the value is compared with what was stored. */
function checkChanged(
  value: unknown,
  before: StoredValue | undefined,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): number {
  if (before !== undefined && isUnchanged(value, before)) return 0
  return checkValue(value, before, schema, path, errors)
}

/** Answers how many checks were made and passed: of several branches that all fail, the one with the most is reported. */
function checkValue(
  value: unknown,
  before: StoredValue | undefined,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): number {
  const types = typesOf(schema)
  const format = formatOf(schema)
  if (value === null) {
    const isRefused = types.length > 0 && schema.nullable !== true
    if (isRefused) refuseType('null', types.join(','), path, errors)
    checkEnum(value, schema, path, errors)
    return isRefused ? 0 : 1
  }
  // The value itself, its combinations and its enum are looked at always.
  let matches = 4
  if (types.length > 0 || format !== undefined)
    matches += checkType(value, { types, format }, path, errors) ? 2 : 1
  matches += checkCombinations(value, before, schema, path, errors)
  if (typeof value === 'string') {
    checkString(value, schema, format, path, errors)
    matches += format === undefined ? 1 : 2
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    checkNumber(value, { ...schema, format }, path, errors)
    matches += 2
  } else if (Array.isArray(value)) matches += 2 + checkList(value, before, schema, path, errors)
  checkEnum(value, schema, path, errors)
  if (isObject(value)) matches += 1 + checkObject(value, before, schema, path, errors)
  return matches
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return isInt64(value) ? 'integer' : 'number'
  return typeof value
}

function typesOf(schema: Schema): readonly string[] {
  if (isIntOrString(schema)) return ['integer', 'string']
  return schema.type === undefined ? [] : [schema.type]
}

/** Formats that the type does not have mean nothing. */
function formatOf({ format, type }: Schema): string | undefined {
  return format !== undefined && isKnownFormat(format, type) ? format : undefined
}

interface ExpectedType {
  readonly types: readonly string[]
  readonly format: string | undefined
}

/** The formats that numbers have of themselves. */
const FORMAT_OF: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' }

/** A format speaks before the type for all but texts and lists; a list passes for a text with a format. */
function checkType(
  value: unknown,
  { types, format }: ExpectedType,
  path: string,
  errors: FieldErrors,
): boolean {
  const actual = typeName(value)
  const wantsNumber = types.includes('integer') || types.includes('number')
  const matches =
    types.includes(actual) ||
    (actual === 'integer' && types.includes('number')) ||
    (actual === 'number' && types.includes('integer') && isNearInteger(value as number))
  if (matches) return true
  if (format !== undefined) {
    const isTextOrList = actual === 'string' || actual === 'array'
    if (!isTextOrList) return refuseType(FORMAT_OF[actual] ?? '', format, path, errors)
    if (!wantsNumber) return true
  }
  return refuseType(actual, types.join(','), path, errors)
}

function refuseType(actual: string, expected: string, path: string, errors: FieldErrors): false {
  const text = `${path} in body must be of type ${expected}: ${JSON.stringify(actual)}`
  errors.typeInvalid(path === '' ? NO_FIELD : path, actual, text)
  return false
}

/** The first thing that is wrong, and the format besides. */
function checkString(
  value: string,
  schema: Schema,
  format: string | undefined,
  path: string,
  errors: FieldErrors,
): void {
  const length = [...value].length
  if (schema.maxLength !== undefined && length > schema.maxLength)
    errors.tooLong(path, schema.maxLength)
  else if (schema.minLength !== undefined && length < schema.minLength)
    errors.invalid(path, value, `${path} in body should be at least ${schema.minLength} chars long`)
  else if (schema.pattern !== undefined && schema.pattern !== '')
    checkPattern(value, schema.pattern, path, errors)
  if (format !== undefined && !matchesFormat(format, value)) {
    errors.typeInvalid(path, value, `${path} in body must be of type ${format}: ${goQuote(value)}`)
  }
}

/** Definitions hold no pattern that does not compile. */
function checkPattern(value: string, pattern: string, path: string, errors: FieldErrors): void {
  try {
    if (compileRegularExpression(pattern)?.test(value) === false)
      errors.invalid(path, value, `${path} in body should match '${pattern}'`)
  } catch (error) {
    if (!(error instanceof TooMuchToMatch)) throw error
    errors.invalid(path, value, `${path} in body takes too long to match '${pattern}'`)
  }
}

function checkList(
  value: readonly unknown[],
  before: StoredValue | undefined,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): number {
  const items = itemsOf(schema)
  let matches = 0
  if (items !== undefined) {
    const stored = before && storedItems(before)
    for (const [index, item] of value.entries())
      matches += checkChanged(item, stored?.(item), items, `${path}[${index}]`, errors)
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.invalid(
      path,
      value.length,
      `${path} in body should have at least ${schema.minItems} items`,
    )
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    errors.tooMany(path, value.length, schema.maxItems)
  return matches
}

function checkEnum(value: unknown, schema: Schema, path: string, errors: FieldErrors): void {
  const allowed = schema.enum
  if (allowed === undefined || allowed.length === 0) return
  if (allowed.some((choice) => isChoice(value, choice))) return
  const texts = allowed.map((choice) =>
    typeof choice === 'string' ? choice : escapeHtml(stringifyExact(sortedJson(choice))),
  )
  errors.notSupported(path === '' ? NO_FIELD : path, sortedJson(value), texts)
}

/** The value becomes what the choice is before they are compared: a float loses its fraction, an integer names a character. Null is no choice. */
function isChoice(value: unknown, choice: unknown): boolean {
  if (value === null) return false
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (typeof choice === 'string') return isInt64(value) && choice === characterOf(value)
    if (typeof choice === 'number' && isInt64(choice) && !isInt64(value))
      return toInt64(value) === BigInt(choice)
  }
  return deepEqual(choice, value)
}

const CODE_POINT_MAX = 0x10ffff
const NO_CHARACTER = '\ufffd'

function characterOf(code: number | bigint): string {
  const isOne = code >= 0 && code <= CODE_POINT_MAX && !(code >= 0xd800 && code <= 0xdfff)
  return isOne ? String.fromCodePoint(Number(code)) : NO_CHARACTER
}

function checkObject(
  value: JsonObject,
  before: StoredValue | undefined,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): number {
  const count = Object.keys(value).length
  if (schema.minProperties !== undefined && count < schema.minProperties) {
    errors.invalid(
      path,
      count,
      `${path} in body should have at least ${schema.minProperties} properties`,
    )
  }
  if (schema.maxProperties !== undefined && count > schema.maxProperties)
    errors.tooMany(path, count, schema.maxProperties)
  const additional = additionalOf(schema)
  let matches = 0
  for (const name of Object.keys(value).toSorted()) {
    const property = propertyOf(schema, name)
    const child = property ?? (additional === true ? undefined : additional)
    if (child === undefined && schema.additionalProperties === false)
      errors.invalid(path, name, `${path}.${name} in body is a forbidden property`)
    if (child === undefined) continue
    const stored = before && storedField(before, name)
    // Of a map that is looked at for itself the keys have their dot, too.
    const at = property === undefined ? `${path}.${name}` : childPath(path, name)
    matches += checkChanged(value[name], stored, child, at, errors)
  }
  for (const name of schema.required ?? []) {
    if (ownValue(value, name) === undefined) errors.required(childPath(path, name))
  }
  return matches
}

function checkCombinations(
  value: unknown,
  before: StoredValue | undefined,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): number {
  const quoted = JSON.stringify(path)
  const verdictsOf = (branches: readonly Schema[] | undefined): readonly Verdict[] =>
    (branches ?? []).map((branch) => verdictOf(value, before, branch, path))
  return (
    checkAnyOf(verdictsOf(schema.anyOf), quoted, errors) +
    checkOneOf(verdictsOf(schema.oneOf), quoted, errors) +
    checkAllOf(verdictsOf(schema.allOf), quoted, errors) +
    checkNot(verdictsOf(schema.not === undefined ? [] : [schema.not]), quoted, errors)
  )
}

/** What a branch of a combination says. */
interface Verdict {
  readonly problems: FieldErrors['list']
  readonly matches: number
}

function verdictOf(
  value: unknown,
  before: StoredValue | undefined,
  schema: Schema,
  path: string,
): Verdict {
  const own = new FieldErrors()
  const matches = checkValue(value, before, schema, path, own)
  return { problems: own.list, matches }
}

const isGood = ({ problems }: Verdict): boolean => problems.length === 0

/** Of the branches that fail the one in which the most is right, and what it says. */
function reportNearest(verdicts: readonly Verdict[], errors: FieldErrors): number {
  const nearest = verdicts.reduce((best, next) => (next.matches > best.matches ? next : best))
  errors.list.push(...nearest.problems)
  return nearest.matches
}

function checkAnyOf(verdicts: readonly Verdict[], quoted: string, errors: FieldErrors): number {
  if (verdicts.length === 0) return 0
  const first = verdicts.find(isGood)
  if (first !== undefined) return first.matches
  errors.invalid(NO_FIELD, '', `${quoted} must validate at least one schema (anyOf)`)
  return reportNearest(verdicts, errors)
}

function checkOneOf(verdicts: readonly Verdict[], quoted: string, errors: FieldErrors): number {
  if (verdicts.length === 0) return 0
  const good = verdicts.filter(isGood)
  if (good.length === 1) return good[0]!.matches
  const found = good.length === 0 ? 'Found none valid' : `Found ${good.length} valid alternatives`
  errors.invalid(NO_FIELD, '', `${quoted} must validate one and only one schema (oneOf). ${found}`)
  return good.length === 0 ? reportNearest(verdicts, errors) : 0
}

function checkAllOf(verdicts: readonly Verdict[], quoted: string, errors: FieldErrors): number {
  for (const { problems } of verdicts) errors.list.push(...problems)
  if (!verdicts.every(isGood)) {
    const none = verdicts.some(isGood) ? '' : '. None validated'
    errors.invalid(NO_FIELD, '', `${quoted} must validate all the schemas (allOf)${none}`)
  }
  return verdicts.reduce((sum, { matches }) => sum + matches, 0)
}

function checkNot(verdicts: readonly Verdict[], quoted: string, errors: FieldErrors): number {
  if (verdicts.some(isGood))
    errors.invalid(NO_FIELD, '', `${quoted} must not validate the schema (not)`)
  return 0
}
