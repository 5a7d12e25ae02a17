import type { Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { invalidAll } from '../../schema/validation/labels.ts'
import { qualifiedName } from '../../schema/validation/names.ts'

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']

export function validatePodFailurePolicy(spec: Stored, errors: FieldErrors, field: string): void {
  const rules: readonly Stored[] = spec.podFailurePolicy.rules ?? []
  if (rules.length > 20) errors.tooMany(`${field}.rules`, rules.length, 20)
  const names = new Set(
    [
      ...(spec.template?.spec?.containers ?? []),
      ...(spec.template?.spec?.initContainers ?? []),
    ].map(({ name }: Stored) => name),
  )
  for (const [index, rule] of rules.entries())
    validateRule(spec, rule, names, errors, `${field}.rules[${index}]`)
}

function validateRule(
  spec: Stored,
  rule: Stored,
  names: ReadonlySet<string>,
  errors: FieldErrors,
  field: string,
): void {
  if (!rule.action)
    errors.required(
      `${field}.action`,
      `valid values: ${ACTIONS.map((action) => JSON.stringify(action)).join(', ')}`,
    )
  else if (rule.action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined)
      errors.invalid(`${field}.action`, rule.action, 'requires the backoffLimitPerIndex to be set')
  } else if (!ACTIONS.includes(rule.action))
    errors.notSupported(`${field}.action`, rule.action, ACTIONS)
  const conditions: readonly Stored[] = rule.onPodConditions ?? []
  if (rule.onExitCodes) validateExitCodes(rule.onExitCodes, names, errors, `${field}.onExitCodes`)
  if (conditions.length > 20) errors.tooMany(`${field}.onPodConditions`, conditions.length, 20)
  for (const [index, pattern] of conditions.entries()) {
    const at = `${field}.onPodConditions[${index}]`
    invalidAll(errors, `${at}.type`, pattern.type ?? '', qualifiedName(pattern.type ?? ''))
    if (!pattern.status) errors.required(`${at}.status`, 'valid values: "False", "True", "Unknown"')
    else if (!['False', 'True', 'Unknown'].includes(pattern.status))
      errors.notSupported(`${at}.status`, pattern.status, ['False', 'True', 'Unknown'])
  }
  if (rule.onExitCodes && conditions.length > 0)
    errors.invalid(field, null, 'specifying both OnExitCodes and OnPodConditions is not supported')
  if (!rule.onExitCodes && conditions.length === 0)
    errors.invalid(field, null, 'specifying one of OnExitCodes and OnPodConditions is required')
}

function validateExitCodes(
  codes: Stored,
  names: ReadonlySet<string>,
  errors: FieldErrors,
  field: string,
): void {
  const { operator = '', values = [] } = codes as { operator?: string; values?: number[] }
  if (operator === '') errors.required(`${field}.operator`, 'valid values: "In", "NotIn"')
  else if (!['In', 'NotIn'].includes(operator))
    errors.notSupported(`${field}.operator`, operator, ['In', 'NotIn'])
  if (codes.containerName !== undefined && !names.has(codes.containerName)) {
    errors.invalid(
      `${field}.containerName`,
      codes.containerName,
      'must be one of the container or initContainer names in the pod template',
    )
  }
  if (values.length === 0)
    errors.invalid(`${field}.values`, values, 'at least one value is required')
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

export function validateSuccessPolicy(spec: Stored, errors: FieldErrors, field: string): void {
  const rules: readonly Stored[] = spec.successPolicy.rules ?? []
  const at = `${field}.successPolicy`
  if (spec.completionMode !== 'Indexed')
    errors.invalid(at, { Rules: rules.map(ruleForm) }, 'requires indexed completion mode')
  if (rules.length === 0)
    errors.required(
      `${at}.rules`,
      'at least one rules must be specified when the successPolicy is specified',
    )
  if (rules.length > 20) errors.tooMany(`${at}.rules`, rules.length, 20)
  for (const [index, rule] of rules.entries()) {
    const ruleAt = `${at}.rules[${index}]`
    if (rule.succeededCount === undefined && rule.succeededIndexes === undefined) {
      errors.required(
        ruleAt,
        'at least one of succeededCount or succeededIndexes must be specified',
      )
    }
    if (typeof rule.succeededCount === 'number') {
      if (rule.succeededCount < 0)
        errors.invalid(
          `${ruleAt}.succeededCount`,
          rule.succeededCount,
          'must be greater than or equal to 0',
        )
      if (spec.completions !== undefined && rule.succeededCount > spec.completions) {
        errors.invalid(
          `${ruleAt}.succeededCount`,
          rule.succeededCount,
          `must be less than or equal to ${spec.completions} (the number of specified completions)`,
        )
      }
    }
  }
}

function ruleForm(rule: Stored): Stored {
  return {
    SucceededIndexes: rule.succeededIndexes ?? null,
    SucceededCount: rule.succeededCount ?? null,
  }
}
