/** What objects of a definition must be, as a whole and of their status. Contract: docs/behaviour/api-server/custom-resources.md, Value validation. */
import { goFormat, goTypeName } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { goQuote } from '@gyropilot/schema/go-quote'
import { isKnownFinalizer } from '@gyropilot/schema/validation/metadata'
import { goNumber, isInt64 } from '@gyropilot/schema/go-number'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Stored } from '../registry/kind-rules.ts'
import { rulesOf as celRulesOf } from './rules.ts'
import { runRules } from './run-rules.ts'
import { validateEmbedded } from './schemas/embedded.ts'
import { validateListTypes } from './schemas/list-duplicates.ts'
import { hasRules, propertyOf, valueAt } from './schemas/structural-schema.ts'
import type { Schema } from './schemas/structural-schema.ts'
import { validateValue, validateValueAt } from './schemas/value-validation.ts'

interface ValidatedVersion {
  /** As the definition has it: its subresources name where replicas stand. */
  readonly version: Stored
  readonly schema: Schema | undefined
}

/** Kinds of errors after which rules in CEL are not run, be they of the metadata. */
const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueTypeInvalid',
  'FieldValueRequired',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany',
])

const RULES_NOT_CHECKED =
  'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

export function validateObject(
  facts: ValidatedVersion,
  object: Stored,
  stored: Stored | undefined,
  errors: FieldErrors,
): void {
  const { schema } = facts
  if (schema === undefined) return
  validateValue(object, stored, schema, '', errors)
  validateEmbedded(object, schema, errors)
  validateReplicas(facts.version, object, ['specReplicasPath', 'statusReplicasPath'], errors)
  validateWhole(facts, object, stored, errors)
}

/** Of a status alone the schema and the replicas are looked at, and no embedded resources; lists and rules of the whole object. */
export function validateStatus(
  facts: ValidatedVersion,
  object: Stored,
  stored: Stored,
  errors: FieldErrors,
): void {
  const schema = propertyOf(facts.schema, 'status')
  const status: unknown = object['status']
  // A null where there was nothing has not changed: it stays a null that nobody is shown.
  const isUnchanged = status === null && stored['status'] === undefined
  if (schema !== undefined && status !== undefined && !isUnchanged)
    validateValueAt('status', status, stored['status'], schema, errors)
  validateReplicas(facts.version, object, ['statusReplicasPath'], errors)
  validateWhole(facts, object, stored, errors)
}

function validateWhole(
  { schema }: ValidatedVersion,
  object: Stored,
  stored: Stored | undefined,
  errors: FieldErrors,
): void {
  if (schema === undefined) return
  validateListTypes(object, stored, schema, errors)
  if (!hasRules(schema)) return
  const blocked = errors.list.some(({ type }) => BLOCKING.has(type))
  if (blocked)
    errors.list.push({ type: 'FieldValueInvalid', field: '<nil>', message: RULES_NOT_CHECKED })
  else validateByRules(object, stored, schema, errors)
}

/** Broken rules of parts that did not change, to be said as warnings once the object was accepted. */
const toleratedErrors = new WeakMap<Stored, readonly string[]>()

export function warningsOf(object: Stored, stored: Stored | undefined): readonly string[] {
  return [...(toleratedErrors.get(object) ?? []), ...finalizerWarnings(object, stored)]
}

/** Custom resources may have finalizers that name no domain, but whoever adds one is warned. */
function finalizerWarnings(object: Stored, stored: Stored | undefined): readonly string[] {
  const before: readonly string[] = stored?.['metadata'].finalizers ?? []
  const now: readonly string[] = object['metadata'].finalizers ?? []
  const advice = (name: string): string =>
    `prefer a domain-qualified finalizer name ${name.includes('.') ? 'including a path (/) ' : ''}to avoid accidental conflicts with other finalizer writers`
  return [...new Set(now)]
    .filter((name) => !before.includes(name) && !isKnownFinalizer(name))
    .toSorted(compareStrings)
    .map((name) => `metadata.finalizers: ${goQuote(name)}: ${advice(name)}`)
}

function validateByRules(
  object: Stored,
  stored: Stored | undefined,
  schema: Schema,
  errors: FieldErrors,
): void {
  const rules = celRulesOf(schema)
  if (rules === undefined) return
  const tolerated = new FieldErrors()
  runRules(rules, object, stored, { errors, tolerated })
  if (tolerated.list.length > 0)
    toleratedErrors.set(
      object,
      tolerated.list.map(({ field, message }) => `${field}: ${message}`),
    )
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

const MOST_REPLICAS = 2_147_483_647

function validateReplicas(
  version: Stored,
  object: Stored,
  paths: readonly string[],
  errors: FieldErrors,
): void {
  const scale: Stored | undefined = version['subresources']?.scale
  if (scale === undefined) return
  for (const path of paths.map((name) => scale[name] as string)) {
    const value = valueOnWay(object, path, 0, errors)
    if (value === undefined) continue
    if (!isNumber(value) || !isInt64(value)) refuseType(path, 0, value, 'int64', errors)
    else if (value < 0) errors.invalid(path, value, 'should be a non-negative integer')
    else if (value > MOST_REPLICAS)
      errors.invalid(path, value, `should be less than or equal to ${MOST_REPLICAS}`)
  }
  const selectorPath: string | undefined = scale['labelSelectorPath']
  if (selectorPath === undefined) return
  const selector = valueOnWay(object, selectorPath, '', errors)
  if (selector !== undefined && typeof selector !== 'string')
    refuseType(selectorPath, '', selector, 'string', errors)
}

/** What stands at the path; an error where something on the way is no object. `shown` stands for the value then. */
function valueOnWay(
  object: Stored,
  path: string,
  shown: number | string,
  errors: FieldErrors,
): unknown {
  const value = valueAt(object, path)
  if (value !== undefined) return value
  const names = path.split('.').slice(1)
  for (let length = 1; length < names.length; length += 1) {
    const parent = valueAt(object, `.${names.slice(0, length).join('.')}`)
    if (parent === undefined || parent === null) return undefined
    if (typeof parent === 'object' && !Array.isArray(parent)) continue
    refuseType(path, shown, parent, 'map[string]interface{}', errors)
    return undefined
  }
  return undefined
}

function refuseType(
  path: string,
  shown: number | string,
  value: unknown,
  expected: string,
  errors: FieldErrors,
): void {
  // Whole numbers beyond int64 are floats, and written as such.
  const isFloat = isNumber(value) && !isInt64(value)
  const type = isFloat ? 'float64' : goTypeName(value)
  const text = isFloat ? goNumber(value) : goFormat(value)
  const why = `${path} accessor error: ${text} is of the type ${type}, expected ${expected}`
  errors.invalid(path, shown, why)
}
