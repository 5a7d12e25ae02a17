/**
 * Which schemas a definition may carry. Contract: docs/behaviour/api-server/custom-resources.md, Structural schema.
 */
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { givenEmpties } from '@gyropilot/schema/given-value'
import { RuleCheck } from '../rule-validation.ts'
import { checkDefaults } from './default-validation.ts'
import { foreignKeyword, foreignProblem } from './foreign-keyword.ts'
import { internalSchema } from './internal-schema.ts'
import { checkOpenApi } from './openapi-validation.ts'
import { structuralProblems } from './structural-validation.ts'
import { partsOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

/** Checks the schema of one version; `path` ends in `openAPIV3Schema`. `stored`: the schema before an update. */
export function validateSchema(
  schema: Schema,
  path: string,
  statusEnabled: boolean,
  errors: FieldErrors,
  stored?: Schema,
): void {
  const first = errors.list.length
  if (statusEnabled) checkRootForStatus(schema, path, errors)
  if (schema.nullable === true)
    errors.forbidden(`${path}.nullable`, 'nullable cannot be true at the root')
  const isTyped = checkStructure(schema, path, errors)
  const rules = new RuleCheck(errors, isTyped, stored)
  checkOpenApi(schema, path, errors, rules)
  if (!isTyped && errors.list.length === first) refuseUnknown(schema, path, errors)
  rules.finish(path)
}

/** Schemas with keywords that no structural schema has are not looked at: those are refused elsewhere. */
function checkStructure(schema: Schema, path: string, errors: FieldErrors): boolean {
  if (foreignKeyword(schema) !== undefined) return false
  const problems = structuralProblems(schema, path)
  const before = errors.list.length
  if (problems.length > 0) errors.list.push(...problems)
  else checkDefaults(schema, path, errors)
  return errors.list.length === before
}

function refuseUnknown(schema: Schema, path: string, errors: FieldErrors): void {
  const keyword = foreignKeyword(schema)
  if (keyword !== undefined) errors.invalid(path, '', foreignProblem(keyword))
}

/** Branches included. */
export function hasDefaults(schema: Schema | undefined): boolean {
  return schema !== undefined && (schema.default !== undefined || partsOf(schema).some(hasDefaults))
}

/** With a status subresource the root only describes an object, because spec and status are written apart. */
const STATUS_ROOT: readonly (readonly [string, keyof Schema])[] = [
  ['Description', 'description'],
  ['Type', 'type'],
  ['Format', 'format'],
  ['Title', 'title'],
  ['Maximum', 'maximum'],
  ['ExclusiveMaximum', 'exclusiveMaximum'],
  ['Minimum', 'minimum'],
  ['ExclusiveMinimum', 'exclusiveMinimum'],
  ['MaxLength', 'maxLength'],
  ['MinLength', 'minLength'],
  ['Pattern', 'pattern'],
  ['MaxItems', 'maxItems'],
  ['MinItems', 'minItems'],
  ['UniqueItems', 'uniqueItems'],
  ['MultipleOf', 'multipleOf'],
  ['Required', 'required'],
  ['Items', 'items'],
  ['Properties', 'properties'],
  ['ExternalDocs', 'externalDocs'],
  ['Example', 'example'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields'],
  ['XValidations', 'x-kubernetes-validations'],
]
const STATUS_ROOT_KEYWORDS = new Set<string>(STATUS_ROOT.map(([, keyword]) => keyword))
const STATUS_ROOT_NAMES = STATUS_ROOT.map(([name]) => name).join(' ')

function checkRootForStatus(schema: Schema, path: string, errors: FieldErrors): void {
  if (schema.type !== undefined && schema.type !== 'object') {
    errors.invalid(
      `${path}.type`,
      schema.type,
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
    )
    return
  }
  const isRefused = ([keyword, value]: readonly [string, unknown]): boolean =>
    !STATUS_ROOT_KEYWORDS.has(keyword) && value !== false && value !== ''
  if ([...Object.entries(schema), ...givenEmpties(schema)].some(isRefused))
    errors.invalid(
      path,
      internalSchema(schema),
      `only [${STATUS_ROOT_NAMES}] fields are allowed at the root of the schema if the status subresource is enabled`,
    )
}
