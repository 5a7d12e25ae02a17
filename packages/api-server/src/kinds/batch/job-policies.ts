import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from '@gyropilot/api'
import type { Stored, StoredOf } from '../../registry/kind-rules.ts'
import { givenValue } from '@gyropilot/schema/given-value'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { countIndexes } from './job-indexes.ts'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { qualifiedName } from '@gyropilot/schema/validation/names'

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const STATUSES = ['False', 'True', 'Unknown']
const OPERATORS = ['In', 'NotIn']

function validValues(values: readonly string[]): string {
  return `valid values: [${values.map((value) => JSON.stringify(value)).join(' ')}]`
}

export function validatePodFailurePolicy(
  spec: StoredOf<JobSpec>,
  errors: FieldErrors,
  field: string,
): void {
  const rules = spec.podFailurePolicy?.rules ?? []
  if (rules.length > 20) errors.tooMany(`${field}.rules`, rules.length, 20)
  const names = new Set(
    [
      ...(spec.template?.spec?.containers ?? []),
      ...(spec.template?.spec?.initContainers ?? []),
    ].map(({ name = '' }) => name),
  )
  for (const [index, rule] of rules.entries())
    validateRule(spec, rule, names, errors, `${field}.rules[${index}]`)
}

function validateRule(
  spec: StoredOf<JobSpec>,
  rule: StoredOf<PodFailurePolicyRule>,
  names: ReadonlySet<string>,
  errors: FieldErrors,
  field: string,
): void {
  if (!rule.action) errors.required(`${field}.action`, validValues(ACTIONS))
  else if (rule.action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined)
      errors.invalid(`${field}.action`, rule.action, 'requires the backoffLimitPerIndex to be set')
  } else if (!ACTIONS.includes(rule.action))
    errors.notSupported(`${field}.action`, rule.action, ACTIONS)
  const conditions = rule.onPodConditions ?? []
  if (rule.onExitCodes) validateExitCodes(rule.onExitCodes, names, errors, `${field}.onExitCodes`)
  if (conditions.length > 20) errors.tooMany(`${field}.onPodConditions`, conditions.length, 20)
  for (const [index, pattern] of conditions.entries()) {
    const at = `${field}.onPodConditions[${index}]`
    invalidAll(errors, `${at}.type`, pattern.type ?? '', qualifiedName(pattern.type ?? ''))
    if (!pattern.status) errors.required(`${at}.status`, validValues(STATUSES))
    else if (!STATUSES.includes(pattern.status))
      errors.notSupported(`${at}.status`, pattern.status, STATUSES)
  }
  if (rule.onExitCodes && conditions.length > 0)
    errors.invalidOmitted(field, 'specifying both OnExitCodes and OnPodConditions is not supported')
  if (!rule.onExitCodes && conditions.length === 0)
    errors.invalidOmitted(field, 'specifying one of OnExitCodes and OnPodConditions is required')
}

function validateExitCodes(
  codes: StoredOf<PodFailurePolicyOnExitCodesRequirement>,
  names: ReadonlySet<string>,
  errors: FieldErrors,
  field: string,
): void {
  const { operator = '' } = codes as { operator?: string }
  const values: readonly number[] = codes.values ?? []
  if (operator === '') errors.required(`${field}.operator`, validValues(OPERATORS))
  else if (!OPERATORS.includes(operator))
    errors.notSupported(`${field}.operator`, operator, OPERATORS)
  if (codes.containerName !== undefined && !names.has(codes.containerName)) {
    errors.invalid(
      `${field}.containerName`,
      codes.containerName,
      'must be one of the container or initContainer names in the pod template',
    )
  }
  if (values.length === 0)
    errors.invalid(`${field}.values`, codes.values ?? null, 'at least one value is required')
  else if (values.length > 255) errors.tooMany(`${field}.values`, values.length, 255)
  let ordered = true
  const seen = new Set<number>()
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0)
      errors.invalid(`${field}.values[${index}]`, value, 'must not be 0 for the In operator')
    if (seen.has(value)) errors.duplicate(`${field}.values[${index}]`, value)
    else seen.add(value)
    if (index > 0 && values[index - 1]! > value) ordered = false
  }
  if (!ordered) errors.invalid(`${field}.values`, values, 'must be ordered')
}

/** What a success policy prints as when the job has no indexes at all. */
function policyForm({ successPolicy }: StoredOf<JobSpec>): Stored {
  const rules = successPolicy?.rules?.map((rule) => ({
    SucceededIndexes: rule.succeededIndexes ?? null,
    SucceededCount: rule.succeededCount ?? null,
  }))
  return { Rules: rules ?? givenValue(successPolicy, 'rules') }
}

const INDEXES_LIMIT_BYTES = 64 * 1024

export function validateSuccessPolicy(
  spec: StoredOf<JobSpec>,
  errors: FieldErrors,
  field: string,
): void {
  const rules = spec.successPolicy?.rules ?? []
  const at = `${field}.successPolicy`
  if (spec.completionMode !== 'Indexed') {
    errors.invalid(at, policyForm(spec), 'requires indexed completion mode')
    return
  }
  if (rules.length === 0)
    errors.required(
      `${at}.rules`,
      'at least one rules must be specified when the successPolicy is specified',
    )
  if (rules.length > 20) errors.tooMany(`${at}.rules`, rules.length, 20)
  for (const [index, rule] of rules.entries())
    validateSuccessRule(rule, spec.completions ?? 0, errors, `${at}.rules[${index}]`)
}

function validateSuccessRule(
  rule: StoredOf<SuccessPolicyRule>,
  completions: number,
  errors: FieldErrors,
  field: string,
): void {
  const { succeededCount: count, succeededIndexes: indexes } = rule
  if (count === undefined && indexes === undefined)
    errors.required(field, 'at least one of succeededCount or succeededIndexes must be specified')
  let total = 0
  if (indexes !== undefined) {
    const at = `${field}.succeededIndexes`
    if (indexes.length > INDEXES_LIMIT_BYTES) errors.tooLong(at, INDEXES_LIMIT_BYTES)
    const counted = countIndexes(indexes, completions)
    if (typeof counted === 'number') total = counted
    else errors.invalid(at, indexes, `error parsing succeededIndexes: ${counted.problem}`)
  }
  if (count === undefined) return
  const at = `${field}.succeededCount`
  validateNonNegative(count, errors, at)
  if (count > completions)
    errors.invalid(
      at,
      count,
      `must be less than or equal to ${completions} (the number of specified completions)`,
    )
  if (indexes !== undefined && count > total)
    errors.invalid(
      at,
      count,
      `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
    )
}
