/** Tolerations, affinity, topology spread and scheduling gates. */
import type { Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '../../../schema/field-errors.ts'
import {
  invalidAll,
  validateLabelSelector,
  validateQualifiedName,
} from '../../../schema/validation/labels.ts'
import { dnsSubdomain, labelValue, qualifiedName } from '../../../schema/validation/names.ts'

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function validateTolerations(
  tolerations: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, toleration] of (tolerations ?? []).entries()) {
    const at = `${field}[${index}]`
    const { key = '', operator = '', value = '', effect = '' } = toleration
    if (key !== '') validateQualifiedName(key, errors, `${at}.key`)
    else if (operator !== 'Exists') {
      errors.invalid(
        `${at}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      )
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      errors.invalid(
        `${at}.effect`,
        effect,
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      )
    }
    if (operator === '' || operator === 'Equal') {
      const messages = labelValue(value)
      if (messages.length > 0) errors.invalid(`${at}.operator`, value, messages.join(';'))
    } else if (operator === 'Exists') {
      if (value !== '')
        errors.invalid(
          `${at}.operator`,
          toleration,
          "value must be empty when `operator` is 'Exists'",
        )
    } else errors.notSupported(`${at}.operator`, operator, ['Equal', 'Exists'])
    if (effect !== '' && !TAINT_EFFECTS.includes(effect))
      errors.notSupported(`${at}.effect`, effect, TAINT_EFFECTS)
  }
}

function validateNodeRequirement(
  requirement: Stored,
  fields: boolean,
  errors: FieldErrors,
  field: string,
): void {
  const values: readonly string[] = requirement.values ?? []
  const { operator = '', key = '' } = requirement
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")
    if (fields && values.length !== 1)
      errors.required(
        `${field}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      )
  } else if (fields) {
    errors.invalid(`${field}.operator`, operator, 'not a valid selector operator')
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.forbidden(
        `${field}.values`,
        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      )
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1)
      errors.required(
        `${field}.values`,
        "must be specified single value when `operator` is 'Lt' or 'Gt'",
      )
  } else errors.invalid(`${field}.operator`, operator, 'not a valid selector operator')
  if (!fields) validateQualifiedName(key, errors, `${field}.key`)
  else if (key !== 'metadata.name')
    errors.invalid(`${field}.key`, key, 'not a valid field selector key')
  else
    for (const [index, value] of values.entries())
      invalidAll(errors, `${field}.values[${index}]`, value, dnsSubdomain(value))
}

function validateNodeTerm(term: Stored, errors: FieldErrors, field: string): void {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    validateNodeRequirement(requirement, false, errors, `${field}.matchExpressions[${index}]`)
  }
  for (const [index, requirement] of (term.matchFields ?? []).entries()) {
    validateNodeRequirement(requirement, true, errors, `${field}.matchFields[${index}]`)
  }
}

export function validateNodeSelector(selector: Stored, errors: FieldErrors, field: string): void {
  const terms: readonly Stored[] = selector.nodeSelectorTerms ?? []
  if (terms.length === 0)
    errors.required(`${field}.nodeSelectorTerms`, 'must have at least one node selector term')
  for (const [index, term] of terms.entries())
    validateNodeTerm(term, errors, `${field}.nodeSelectorTerms[${index}]`)
}

function validatePodTerm(term: Stored, errors: FieldErrors, field: string): void {
  validateLabelSelector(term.labelSelector, errors, `${field}.labelSelector`)
  validateLabelSelector(term.namespaceSelector, errors, `${field}.namespaceSelector`)
  validateMatchLabelKeys(term, errors, field)
  for (const name of term.namespaces ?? []) {
    if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name))
      errors.invalid(`${field}.namespace`, name, 'must be a namespace name')
  }
  if (!term.topologyKey) errors.required(`${field}.topologyKey`, 'can not be empty')
  else validateQualifiedName(term.topologyKey, errors, `${field}.topologyKey`)
}

function validateMatchLabelKeys(holder: Stored, errors: FieldErrors, field: string): void {
  for (const list of ['matchLabelKeys', 'mismatchLabelKeys']) {
    const keys: readonly string[] = holder[list] ?? []
    if (keys.length > 0 && !holder.labelSelector)
      errors.forbidden(`${field}.${list}`, 'must not be specified when labelSelector is not set')
    for (const [index, key] of keys.entries())
      invalidAll(errors, `${field}.${list}[${index}]`, key, qualifiedName(key))
  }
}

export function validateAffinity(
  affinity: Stored | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const node: Stored | undefined = affinity?.nodeAffinity
  if (node) {
    const at = `${field}.nodeAffinity`
    const required = node.requiredDuringSchedulingIgnoredDuringExecution
    if (required)
      validateNodeSelector(required, errors, `${at}.requiredDuringSchedulingIgnoredDuringExecution`)
    for (const [index, term] of (
      node.preferredDuringSchedulingIgnoredDuringExecution ?? []
    ).entries()) {
      const termAt = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`
      validateRangeWeight(term.weight, errors, `${termAt}.weight`)
      validateNodeTerm(term.preference ?? {}, errors, `${termAt}.preference`)
    }
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const pod: Stored | undefined = affinity?.[kind]
    const at = `${field}.${kind}`
    for (const [index, term] of (
      pod?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    ).entries()) {
      validatePodTerm(
        term,
        errors,
        `${at}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`,
      )
    }
    for (const [index, term] of (
      pod?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    ).entries()) {
      const termAt = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`
      validateRangeWeight(term.weight, errors, `${termAt}.weight`)
      validatePodTerm(term.podAffinityTerm ?? {}, errors, `${termAt}.podAffinityTerm`)
    }
  }
}

function validateRangeWeight(weight: number | undefined, errors: FieldErrors, field: string): void {
  if (!(weight! >= 1 && weight! <= 100))
    errors.invalid(field, weight ?? 0, 'must be in the range 1-100')
}

export function validateTopologySpread(
  constraints: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const seen = new Set<string>()
  for (const [index, constraint] of (constraints ?? []).entries()) {
    const at = `${field}[${index}]`
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '' } = constraint
    if (maxSkew <= 0) errors.invalid(`${at}.maxSkew`, maxSkew, 'must be greater than zero')
    if (topologyKey === '') errors.required(`${at}.topologyKey`, 'can not be empty')
    else validateQualifiedName(topologyKey, errors, `${at}.topologyKey`)
    if (!['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable)) {
      errors.notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, [
        'DoNotSchedule',
        'ScheduleAnyway',
      ])
    }
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`
    if (seen.has(pair)) errors.duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair)
    seen.add(pair)
    if (constraint.minDomains !== undefined) {
      if (constraint.minDomains <= 0)
        errors.invalid(`${at}.minDomains`, constraint.minDomains, 'must be greater than zero')
      if (whenUnsatisfiable !== 'DoNotSchedule') {
        errors.invalid(
          `${at}.minDomains`,
          constraint.minDomains,
          `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
        )
      }
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      const value = constraint[policy]
      if (value !== undefined && value !== 'Honor' && value !== 'Ignore')
        errors.notSupported(`${at}.${policy}`, value, ['Honor', 'Ignore'])
    }
    validateMatchLabelKeys(constraint, errors, at)
    validateLabelSelector(constraint.labelSelector, errors, `${at}.labelSelector`)
  }
}

export function validateSchedulingGates(
  gates: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const seen = new Set<string>()
  for (const [index, { name = '' }] of (gates ?? []).entries()) {
    invalidAll(errors, `${field}[${index}].name`, name, qualifiedName(name))
    if (seen.has(name)) errors.duplicate(`${field}[${index}]`, name)
    seen.add(name)
  }
}
