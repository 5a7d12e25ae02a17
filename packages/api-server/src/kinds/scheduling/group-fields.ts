/** What a PodGroup and a template of PodGroups say alike. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "PodGroup and Workload". */
import type {
  PodGroupResourceClaim,
  PodGroupSchedulingConstraints,
  PodGroupSchedulingPolicy,
  PodGroupTemplate,
} from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll, validateQualifiedName } from '@gyropilot/schema/validation/labels'
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'
import type { StoredOf } from '../../registry/kind-rules.ts'
import { inBytes } from '../names-in-bytes.ts'

const CONSTRAINTS_MAX = 1
export const CLAIMS_MAX = 4
const PRIORITY_MAX = 1_000_000_000
const MODES = ['Pod', 'PodGroup']

/** `at`: of the object that has the fields. */
export function validateGroupFields(
  group: Partial<StoredOf<PodGroupTemplate>>,
  errors: FieldErrors,
  at: string,
): void {
  const { schedulingPolicy = {}, schedulingConstraints, resourceClaims = [] } = group
  const { disruptionMode, priorityClassName, priority } = group
  validatePolicy(schedulingPolicy, errors, `${at}.schedulingPolicy`)
  validateConstraints(schedulingConstraints?.topology, errors, `${at}.schedulingConstraints`)
  validateClaims(resourceClaims, errors, `${at}.resourceClaims`)
  if (disruptionMode !== undefined && !MODES.includes(disruptionMode))
    errors.notSupported(`${at}.disruptionMode`, disruptionMode, MODES)
  if (priorityClassName)
    invalidAll(
      errors,
      `${at}.priorityClassName`,
      priorityClassName,
      inBytes(dnsSubdomain(priorityClassName)),
    )
  if (priority !== undefined && priority > PRIORITY_MAX)
    errors.invalid(`${at}.priority`, priority, `must be less than or equal to ${PRIORITY_MAX}`)
}

function validatePolicy(
  policy: StoredOf<PodGroupSchedulingPolicy>,
  errors: FieldErrors,
  field: string,
): void {
  validateOneOf(policy, ['basic', 'gang'], errors, field)
  if (!policy.gang) return
  const minCount = policy.gang.minCount ?? 0
  const at = `${field}.gang.minCount`
  if (minCount === 0) errors.required(at)
  else if (minCount < 0) errors.invalid(at, minCount, 'must be greater than or equal to 1')
}

function validateConstraints(
  topology: StoredOf<PodGroupSchedulingConstraints>['topology'],
  errors: FieldErrors,
  field: string,
): void {
  const constraints = topology ?? []
  if (constraints.length > CONSTRAINTS_MAX) {
    errors.tooMany(`${field}.topology`, constraints.length, CONSTRAINTS_MAX)
    return
  }
  for (const [index, { key = '' }] of constraints.entries()) {
    const at = `${field}.topology[${index}].key`
    if (key === '') errors.required(at)
    else validateQualifiedName(key, errors, at)
  }
}

function validateClaims(
  claims: readonly StoredOf<PodGroupResourceClaim>[],
  errors: FieldErrors,
  field: string,
): void {
  if (claims.length > CLAIMS_MAX) {
    errors.tooMany(field, claims.length, CLAIMS_MAX)
    return
  }
  refuseRepeatedNames(claims, errors, field)
  for (const [index, claim] of claims.entries()) {
    const at = `${field}[${index}]`
    validateOneOf(claim, ['resourceClaimName', 'resourceClaimTemplateName'], errors, at)
    validateName(claim.name, errors, `${at}.name`)
    for (const name of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
      const value = claim[name]
      if (value !== undefined)
        invalidAll(errors, `${at}.${name}`, value, inBytes(dnsSubdomain(value)))
    }
  }
}

export function validateName(name: string | undefined, errors: FieldErrors, field: string): void {
  if (!name) errors.required(field)
  else invalidAll(errors, field, name, inBytes(dnsLabel(name)))
}

/** Exactly one member is set. */
export function validateOneOf<T extends object>(
  union: T,
  members: readonly (keyof T & string)[],
  errors: FieldErrors,
  field: string,
): void {
  const listed = members.map((member) => `\`${member}\``).join(', ')
  const set = members.filter((member) => (union[member] ?? undefined) !== undefined)
  if (set.length === 0) errors.invalid(field, '', `must specify one of: ${listed}`)
  else if (set.length > 1)
    errors.invalid(field, `{${set.join(', ')}}`, `must specify exactly one of: ${listed}`)
}

/** The whole item is told. */
export function refuseRepeatedNames(
  items: readonly { readonly name?: string | undefined }[],
  errors: FieldErrors,
  field: string,
): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const { name = '' } = item
    if (seen.has(name)) errors.duplicate(`${field}[${index}]`, item)
    seen.add(name)
  }
}
