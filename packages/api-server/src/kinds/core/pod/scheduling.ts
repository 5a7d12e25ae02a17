/** Tolerations, affinity, topology spread and scheduling gates. */
import type {
  Affinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from '@gyropilot/api'
import { ownValue } from '../../../registry/equality.ts'
import type { Draft, DraftOf, StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import {
  invalidAll,
  validateLabelSelector,
  validateQualifiedName,
} from '@gyropilot/schema/validation/labels'
import {
  dnsLabel,
  dnsSubdomain,
  labelValue,
  qualifiedName,
} from '@gyropilot/schema/validation/names'

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function validateTolerations(
  tolerations: readonly StoredOf<Toleration>[] | undefined,
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
        errors.invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'")
    } else {
      const comparison = operator === 'Lt' || operator === 'Gt'
      const supported = comparison ? ['Equal', 'Exists', 'Lt', 'Gt'] : ['Equal', 'Exists']
      errors.notSupported(`${at}.operator`, operator, supported)
    }
    if (effect !== '' && !TAINT_EFFECTS.includes(effect))
      errors.notSupported(`${at}.effect`, effect, TAINT_EFFECTS)
  }
}

/** How a term is checked: preferences may ask for values that no label can have. */
type Strictness = 'required' | 'preferred'

function validateLabelRequirement(
  requirement: StoredOf<NodeSelectorRequirement>,
  strictness: Strictness,
  errors: FieldErrors,
  field: string,
): void {
  const values: readonly string[] = requirement.values ?? []
  const { operator = '', key = '' } = requirement
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")
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
  validateQualifiedName(key, errors, `${field}.key`)
  if (strictness === 'preferred') return
  for (const [index, value] of values.entries())
    invalidAll(errors, `${field}.values[${index}]`, value, labelValue(value))
}

function validateFieldRequirement(
  requirement: StoredOf<NodeSelectorRequirement>,
  errors: FieldErrors,
  field: string,
): void {
  const values: readonly string[] = requirement.values ?? []
  const { operator = '', key = '' } = requirement
  if (operator !== 'In' && operator !== 'NotIn')
    errors.invalid(`${field}.operator`, operator, 'not a valid selector operator')
  else if (values.length !== 1)
    errors.required(
      `${field}.values`,
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
    )
  if (key !== 'metadata.name') errors.invalid(`${field}.key`, key, 'not a valid field selector key')
  else
    for (const [index, value] of values.entries())
      invalidAll(errors, `${field}.values[${index}]`, value, dnsSubdomain(value))
}

function validateNodeTerm(
  term: StoredOf<NodeSelectorTerm>,
  strictness: Strictness,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    const at = `${field}.matchExpressions[${index}]`
    validateLabelRequirement(requirement, strictness, errors, at)
  }
  for (const [index, requirement] of (term.matchFields ?? []).entries())
    validateFieldRequirement(requirement, errors, `${field}.matchFields[${index}]`)
}

export function validateNodeSelector(
  selector: StoredOf<NodeSelector>,
  errors: FieldErrors,
  field: string,
): void {
  const terms = selector.nodeSelectorTerms ?? []
  if (terms.length === 0)
    errors.required(`${field}.nodeSelectorTerms`, 'must have at least one node selector term')
  for (const [index, term] of terms.entries())
    validateNodeTerm(term, 'required', errors, `${field}.nodeSelectorTerms[${index}]`)
}

function validatePodTerm(
  term: StoredOf<PodAffinityTerm>,
  errors: FieldErrors,
  field: string,
): void {
  validateLabelSelector(term.labelSelector, errors, `${field}.labelSelector`)
  validateLabelSelector(term.namespaceSelector, errors, `${field}.namespaceSelector`)
  for (const name of term.namespaces ?? [])
    invalidAll(errors, `${field}.namespace`, name, dnsLabel(name))
  validateMatchLabelKeys(term, errors, field)
  const topologyKey: string = term.topologyKey ?? ''
  if (topologyKey === '') errors.required(`${field}.topologyKey`, 'can not be empty')
  validateQualifiedName(topologyKey, errors, `${field}.topologyKey`)
}

/** The selector holds already what the strategy made of the keys, after what the client wrote. */
function validateMatchLabelKeys(
  holder: StoredOf<PodAffinityTerm>,
  errors: FieldErrors,
  field: string,
): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = holder
  for (const list of ['matchLabelKeys', 'mismatchLabelKeys'] as const) {
    const keys: readonly string[] = holder[list] ?? []
    if (keys.length === 0) continue
    if (!labelSelector)
      errors.forbidden(`${field}.${list}`, 'must not be specified when labelSelector is not set')
    else
      for (const [index, key] of keys.entries())
        invalidAll(errors, `${field}.${list}[${index}]`, key, qualifiedName(key))
  }
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}))
  for (const { key = '' } of labelSelector?.matchExpressions ?? []) {
    const index: number = matchLabelKeys.lastIndexOf(key)
    if (index >= 0 && selected.has(key))
      errors.invalid(`${field}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')
    selected.add(key)
  }
  for (const [index, key] of matchLabelKeys.entries()) {
    if (mismatchLabelKeys.includes(key))
      errors.invalid(
        `${field}.matchLabelKeys[${index}]`,
        key,
        'exists in both matchLabelKeys and mismatchLabelKeys',
      )
  }
}

export function validateAffinity(
  affinity: StoredOf<Affinity> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const node = affinity?.nodeAffinity
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
      validateNodeTerm(term.preference ?? {}, 'preferred', errors, `${termAt}.preference`)
    }
  }
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const pod = affinity?.[kind]
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
  constraints: readonly StoredOf<TopologySpreadConstraint>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, constraint] of (constraints ?? []).entries()) {
    const at = `${field}[${index}]`
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '' } = constraint
    if (maxSkew <= 0) errors.invalid(`${at}.maxSkew`, maxSkew, 'must be greater than zero')
    if (topologyKey === '') errors.required(`${at}.topologyKey`, 'can not be empty')
    if (!['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable)) {
      errors.notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, [
        'DoNotSchedule',
        'ScheduleAnyway',
      ])
    }
    const repeated = constraints!
      .slice(index + 1)
      .some(
        (later) =>
          (later.topologyKey ?? '') === topologyKey &&
          (later.whenUnsatisfiable ?? '') === whenUnsatisfiable,
      )
    if (repeated)
      errors.duplicate(
        `${at}.{topologyKey, whenUnsatisfiable}`,
        `{${topologyKey}, ${whenUnsatisfiable}}`,
      )
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
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const value = constraint[policy]
      if (value !== undefined && value !== 'Honor' && value !== 'Ignore')
        errors.notSupported(`${at}.${policy}`, value, ['Honor', 'Ignore'])
    }
    validateMatchLabelKeys(constraint, errors, at)
    validateLabelSelector(constraint.labelSelector, errors, `${at}.labelSelector`)
  }
}

export function validateSchedulingGates(
  gates: readonly StoredOf<PodSchedulingGate>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const seen = new Set<string>()
  for (const [index, { name = '' }] of (gates ?? []).entries()) {
    invalidAll(errors, `${field}[${index}]`, name, qualifiedName(name))
    if (seen.has(name)) errors.duplicate(`${field}[${index}]`, name)
    seen.add(name)
  }
}

/**
 * Keys of labels whose values pods must or must not share become expressions of the selector when the pod is made. Only the
 * pod's own labels count; a key that it lacks asks for nothing.
 */
export function mergeMatchLabelKeys(pod: DraftOf<Pod>): void {
  const { affinity, topologySpreadConstraints } = pod.spec ?? {}
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    for (const term of affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? [])
      mergeKeys(pod, term)
    for (const weighted of affinity?.[kind]?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      mergeKeys(pod, weighted.podAffinityTerm)
  }
  for (const constraint of topologySpreadConstraints ?? []) mergeKeys(pod, constraint)
}

function mergeKeys(pod: DraftOf<Pod>, holder: Draft | undefined): void {
  const selector = holder?.labelSelector
  if (!selector) return
  for (const [list, operator] of [
    ['matchLabelKeys', 'In'],
    ['mismatchLabelKeys', 'NotIn'],
  ] as const) {
    for (const key of holder![list] ?? []) {
      const value = ownValue<string>(pod.metadata?.labels ?? {}, key)
      if (value === undefined) continue
      selector.matchExpressions ??= []
      selector.matchExpressions.push({ key, operator, values: [value] })
    }
  }
}
