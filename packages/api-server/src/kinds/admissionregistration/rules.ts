/** What webhooks and policies have in common: which requests they look at. */
import type { MatchCondition, MatchResources, RuleWithOperations } from '@gyropilot/api'
import type { DraftOf, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { qualifiedName } from '@gyropilot/schema/validation/names'
import type { ExpressionCheck } from './expressions.ts'

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']

/** A list in which `*` has to stand alone. */
function validateWildcardAlone(
  rule: StoredOf<RuleWithOperations>,
  list: 'apiGroups' | 'apiVersions',
  noun: string,
  errors: FieldErrors,
  field: string,
): void {
  const values: readonly string[] = rule[list] ?? []
  if (values.length === 0) errors.required(`${field}.${list}`)
  if (values.length > 1 && values.includes('*'))
    errors.invalid(`${field}.${list}`, values, `if '*' is present, must not specify other ${noun}`)
}

/** Which resources and subresources: wildcards exclude what they cover. */
export function validateRule(
  rule: StoredOf<RuleWithOperations>,
  errors: FieldErrors,
  field: string,
): void {
  validateWildcardAlone(rule, 'apiGroups', 'API groups', errors, field)
  validateWildcardAlone(rule, 'apiVersions', 'API versions', errors, field)
  for (const [index, version] of (rule.apiVersions ?? []).entries())
    if (version === '') errors.required(`${field}.apiVersions[${index}]`)
  validateResources(rule.resources ?? [], errors, `${field}.resources`)
  if (rule.scope !== undefined && !SCOPES.includes(rule.scope))
    errors.notSupported(`${field}.scope`, rule.scope, SCOPES)
}

function validateResources(resources: readonly string[], errors: FieldErrors, field: string): void {
  if (resources.length === 0) errors.required(field)
  const withAllSubresources = new Set<string>()
  const subresourcesOfAll = new Set<string>()
  // Only the last of the names without a subresource counts.
  let lastIsName = false
  for (const [index, resource] of resources.entries()) {
    const at = `${field}[${index}]`
    if (resource === '') {
      errors.required(at)
      continue
    }
    const slash = resource.indexOf('/')
    if (slash < 0) {
      lastIsName = resource !== '*'
      continue
    }
    const name = resource.slice(0, slash)
    const subresource = resource.slice(slash + 1)
    if (withAllSubresources.has(name))
      errors.invalid(at, resource, `if '${name}/*' is present, must not specify ${resource}`)
    if (subresourcesOfAll.has(subresource))
      errors.invalid(at, resource, `if '*/${subresource}' is present, must not specify ${resource}`)
    if (subresource === '*') withAllSubresources.add(name)
    if (name === '*') subresourcesOfAll.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*'))
    errors.invalid(field, resources, "if '*/*' is present, must not specify other resources")
  if (resources.includes('*') && lastIsName) {
    errors.invalid(
      field,
      resources,
      "if '*' is present, must not specify other resources without subresources",
    )
  }
}

const CONDITIONS_LIMIT = 64

export function validateMatchConditions(
  conditions: readonly StoredOf<MatchCondition>[],
  expressions: ExpressionCheck,
  errors: FieldErrors,
  field: string,
): void {
  if (conditions.length > CONDITIONS_LIMIT)
    errors.tooMany(field, conditions.length, CONDITIONS_LIMIT)
  const names = new Set<string>()
  for (const [index, { name = '', expression }] of conditions.entries()) {
    const at = `${field}[${index}]`
    expressions.check('condition', expression, errors, `${at}.expression`, '')
    if (name === '') {
      errors.required(`${at}.name`)
      continue
    }
    invalidAll(errors, `${at}.name`, name, qualifiedName(name))
    if (names.has(name)) errors.duplicate(`${at}.name`, name)
    names.add(name)
  }
}

export function validateOperations(
  operations: readonly string[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const list = operations ?? []
  if (list.length === 0) errors.required(field)
  if (list.length > 1 && list.includes('*'))
    errors.invalid(field, list, "if '*' is present, must not specify other operations")
  for (const [index, operation] of list.entries())
    if (!OPERATIONS.includes(operation))
      errors.notSupported(`${field}[${index}]`, operation, OPERATIONS)
}

export function defaultRule(rule: DraftOf<RuleWithOperations>): void {
  rule.scope ??= '*'
}

export function defaultMatching(match: DraftOf<MatchResources>): void {
  match.matchPolicy ??= 'Equivalent'
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
}
