/**
 * Checks values against a schema. On an update, parts that are equal to the stored ones at the same place are tolerated.
 * Contract: docs/behaviour/api-server/custom-resources.md, Value validation and Ratcheting.
 */
import { deepEqual } from '@gyropilot/api'
import { compileRegularExpression, TooMuchToMatch } from '@gyropilot/cel/regular-expressions'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { goQuote } from '@gyropilot/schema/go-quote'
import { matchesFormat } from '@gyropilot/schema/formats'
import {
  additionalOf,
  childPath,
  isIntOrString,
  isObject,
  itemsOf,
  propertiesOf,
  propertyOf,
} from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'
import { isInteger, stringifyExact } from '@gyropilot/schema/exact-json'

/** A problem that has no field of its own: oneOf, anyOf, allOf, not. */
const NO_FIELD = '<nil>'

/** `old` is the stored value at the same place; undefined when there is none to compare with. */
export function validateValue(
  value: unknown,
  old: unknown,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  if (old !== undefined && deepEqual(value, old)) return
  if (value === null) {
    if (schema.nullable !== true) checkType(value, schema, path, errors)
    return
  }
  checkType(value, schema, path, errors)
  checkCombinations(value, old, schema, path, errors)
  if (typeof value === 'string') checkString(value, schema, path, errors)
  else if (typeof value === 'number' || typeof value === 'bigint')
    checkNumber(value, schema, path, errors)
  else if (Array.isArray(value)) checkList(value, old, schema, path, errors)
  checkEnum(value, schema, path, errors)
  if (isObject(value)) checkObject(value, old, schema, path, errors)
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isInteger(value)) return 'integer'
  return typeof value
}

function checkType(value: unknown, schema: Schema, path: string, errors: FieldErrors): void {
  const actual = typeName(value)
  const expected = isIntOrString(schema)
    ? ['integer', 'string']
    : schema.type === undefined
      ? []
      : [schema.type]
  if (expected.length === 0 || expected.includes(actual)) return
  if (actual === 'integer' && expected.includes('number')) return
  const text = `${path} in body must be of type ${expected.join(',')}: ${JSON.stringify(actual)}`
  errors.typeInvalid(path === '' ? NO_FIELD : path, actual, text)
  // Numbers are judged once more, with the format of the type.
  if (schema.type === 'integer' && actual === 'number')
    errors.invalid(
      NO_FIELD,
      '',
      `Checked value must be of type integer (${schema.format ? `format ${schema.format}` : 'default format'}) in ${path}`,
    )
}

function checkString(value: string, schema: Schema, path: string, errors: FieldErrors): void {
  const length = [...value].length
  if (schema.maxLength !== undefined && length > schema.maxLength)
    errors.tooLong(path, schema.maxLength)
  if (schema.minLength !== undefined && length < schema.minLength) {
    errors.invalid(path, value, `${path} in body should be at least ${schema.minLength} chars long`)
  }
  if (schema.pattern !== undefined && schema.pattern !== '')
    checkPattern(value, schema.pattern, path, errors)
  const { format } = schema
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

function isMultipleOf(value: number | bigint, of: number): boolean {
  if (typeof value === 'bigint' && Number.isInteger(of)) return value % BigInt(of) === 0n
  return Number.isInteger(Number((Number(value) / of).toPrecision(12)))
}

function checkNumber(
  value: number | bigint,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const { minimum, maximum, multipleOf, format } = schema
  if (multipleOf !== undefined && !isMultipleOf(value, multipleOf)) {
    errors.invalid(path, value, `${path} in body should be a multiple of ${multipleOf}`)
  }
  if (
    maximum !== undefined &&
    (schema.exclusiveMaximum === true ? value >= maximum : value > maximum)
  ) {
    errors.invalid(
      path,
      value,
      `${path} in body should be less than ${schema.exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`,
    )
  }
  if (
    minimum !== undefined &&
    (schema.exclusiveMinimum === true ? value <= minimum : value < minimum)
  ) {
    errors.invalid(
      path,
      value,
      `${path} in body should be greater than ${schema.exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`,
    )
  }
  if (
    format === 'int32' &&
    schema.type === 'integer' &&
    (value > 2_147_483_647 || value < -2_147_483_648)
  ) {
    errors.invalid(
      path,
      value,
      `Checked value must be of type integer with format int32 in ${path}`,
    )
  }
}

function checkList(
  value: readonly unknown[],
  old: unknown,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const items = itemsOf(schema)
  if (items !== undefined) {
    const before = correlatedItems(schema, old)
    for (const [index, item] of value.entries())
      validateValue(item, before?.(item), items, `${path}[${index}]`, errors)
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
}

/** Items of map lists are compared by their keys, wherever they stand; items of other lists with nothing. */
export function correlatedItems(
  schema: Schema,
  old: unknown,
): ((item: unknown) => unknown) | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const byKey = new Map<string, unknown>()
  for (const item of old) byKey.set(listKey(item, keys), item)
  return (item) => byKey.get(listKey(item, keys))
}

export function listKey(item: unknown, keys: readonly string[]): string {
  return stringifyExact(keys.map((key) => (isObject(item) ? (item[key] ?? null) : null)))
}

function checkEnum(value: unknown, schema: Schema, path: string, errors: FieldErrors): void {
  const allowed = schema.enum
  if (
    allowed === undefined ||
    allowed.length === 0 ||
    allowed.some((choice) => deepEqual(choice, value))
  )
    return
  const texts = allowed.map((choice) =>
    typeof choice === 'string' ? choice : stringifyExact(choice),
  )
  errors.notSupported(path === '' ? NO_FIELD : path, value, texts)
}

function checkObject(
  value: JsonObject,
  old: unknown,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const before = isObject(old) ? old : undefined
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
  for (const name of Object.keys(value).toSorted()) {
    const child = propertyOf(schema, name) ?? (additional === true ? undefined : additional)
    if (child === undefined) continue
    validateValue(value[name], before?.[name], child, childPath(path, name), errors)
  }
  for (const name of schema.required ?? []) {
    if (value[name] === undefined) errors.required(childPath(path, name))
  }
}

function checkCombinations(
  value: unknown,
  old: unknown,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const quoted = JSON.stringify(path)
  const problemsOf = (branch: Schema): FieldErrors['list'] => problems(value, old, branch, path)
  if (
    schema.anyOf !== undefined &&
    schema.anyOf.length > 0 &&
    !isIntOrStringPattern(schema, schema.anyOf)
  ) {
    const results = schema.anyOf.map(problemsOf)
    if (results.every((list) => list.length > 0)) {
      errors.invalid(NO_FIELD, '', `${quoted} must validate at least one schema (anyOf)`)
      errors.list.push(...results[0]!)
    }
  }
  if (schema.oneOf !== undefined && schema.oneOf.length > 0) {
    const results = schema.oneOf.map(problemsOf)
    const valid = results.filter((list) => list.length === 0).length
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
      errors.invalid(
        NO_FIELD,
        '',
        `${quoted} must validate one and only one schema (oneOf). ${found}`,
      )
      if (valid === 0) errors.list.push(...results[0]!)
    }
  }
  if (schema.allOf !== undefined && schema.allOf.length > 0) {
    const results = schema.allOf.map(problemsOf)
    for (const list of results) errors.list.push(...list)
    if (results.some((list) => list.length > 0)) {
      const none = results.every((list) => list.length > 0) ? '. None validated' : ''
      errors.invalid(NO_FIELD, '', `${quoted} must validate all the schemas (allOf)${none}`)
    }
  }
  if (schema.not !== undefined && problemsOf(schema.not).length === 0) {
    errors.invalid(NO_FIELD, '', `${quoted} must not validate the schema (not)`)
  }
}

/** The anyOf that int-or-string fields may carry repeats their type. */
function isIntOrStringPattern(schema: Schema, anyOf: readonly Schema[]): boolean {
  return (
    isIntOrString(schema) &&
    anyOf.length === 2 &&
    anyOf[0]!.type === 'integer' &&
    anyOf[1]!.type === 'string'
  )
}

function problems(value: unknown, old: unknown, schema: Schema, path: string): FieldErrors['list'] {
  const own = new FieldErrors()
  validateValue(value, old, schema, path, own)
  return own.list
}

/** Lists of type set and map hold each item, or each key, once. Lists that did not change are tolerated. */
export function validateListTypes(
  value: unknown,
  old: unknown,
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  if (old !== undefined && deepEqual(value, old)) return
  if (Array.isArray(value)) {
    reportDuplicates(value, schema, path, errors)
    const items = itemsOf(schema)
    const before = correlatedItems(schema, old)
    if (items === undefined) return
    for (const [index, item] of value.entries())
      validateListTypes(item, before?.(item), items, `${path}[${index}]`, errors)
  } else if (isObject(value)) {
    const before = isObject(old) ? old : undefined
    const additional = additionalOf(schema)
    for (const name of Object.keys(value)) {
      const child = propertiesOf(schema)[name] ?? (additional === true ? undefined : additional)
      if (child !== undefined)
        validateListTypes(value[name], before?.[name], child, childPath(path, name), errors)
    }
  }
}

function reportDuplicates(
  value: readonly unknown[],
  schema: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const listType = schema['x-kubernetes-list-type']
  if (listType !== 'set' && listType !== 'map') return
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const seen = new Set<string>()
  for (const [index, item] of value.entries()) {
    const key = listType === 'set' ? stringifyExact(item) : listKey(item, keys)
    if (seen.has(key)) {
      const shown =
        listType === 'set'
          ? item
          : Object.fromEntries(keys.map((name) => [name, (item as JsonObject)[name]]))
      errors.duplicate(`${path}[${index}]`, shown)
    }
    seen.add(key)
  }
}
