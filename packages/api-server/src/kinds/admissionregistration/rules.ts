/** What webhooks and policies have in common: which requests they look at. */
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { validateLabelSelector } from '../../schema/validation/labels.ts'

export const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']

/** Wildcards stand alone; with subresources `*\/*` does. */
export function validateRule(
  rule: Stored,
  subresources: boolean,
  errors: FieldErrors,
  field: string,
): void {
  for (const list of ['apiGroups', 'apiVersions'] as const) {
    const values: readonly string[] = rule[list] ?? []
    if (values.length === 0) errors.required(`${field}.${list}`)
    if (values.length > 1 && values.includes('*'))
      errors.invalid(
        `${field}.${list}`,
        values,
        `if '*' is present, must not specify other ${list === 'apiGroups' ? 'API groups' : 'API versions'}`,
      )
    if (list === 'apiVersions')
      for (const [index, value] of values.entries())
        if (value === '') errors.required(`${field}.${list}[${index}]`)
  }
  const resources: readonly string[] = rule.resources ?? []
  if (resources.length === 0) errors.required(`${field}.resources`)
  else validateResources(resources, subresources, errors, `${field}.resources`)
  if (rule.scope !== undefined && !SCOPES.includes(rule.scope))
    errors.notSupported(`${field}.scope`, rule.scope, SCOPES)
}

function validateResources(
  resources: readonly string[],
  subresources: boolean,
  errors: FieldErrors,
  field: string,
): void {
  if (!subresources) {
    if (resources.length > 1 && resources.includes('*'))
      errors.invalid(field, resources, "if '*' is present, must not specify other resources")
    for (const [index, resource] of resources.entries())
      if (resource.includes('/'))
        errors.invalid(`${field}[${index}]`, resource, 'must not specify subresources')
    return
  }
  const withAll = new Set<string>()
  const allOf = new Set<string>()
  for (const [index, resource] of resources.entries()) {
    const at = `${field}[${index}]`
    if (resource === '') {
      errors.required(at)
      continue
    }
    if (resource === '*/*') withAll.add('*/*')
    const [name, subresource] = resource.split('/')
    if (subresource === '*') withAll.add(name!)
    if (name === '*' && subresource !== undefined) allOf.add(subresource)
    if (subresource !== undefined && subresource !== '*' && withAll.has(name!))
      errors.invalid(at, resource, `if '${name}/*' is present, must not specify ${resource}`)
  }
  if (withAll.has('*/*') && resources.length > 1)
    errors.invalid(field, resources, "if '*/*' is present, must not specify other resources")
  else if (
    resources.includes('*') &&
    resources.some((resource) => resource !== '*' && !resource.includes('/'))
  ) {
    errors.invalid(
      field,
      resources,
      "if '*' is present, must not specify other resources without subresources",
    )
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

export function defaultRule(rule: Draft): void {
  rule.scope ??= '*'
}

export function defaultMatching(match: Draft): void {
  match.matchPolicy ??= 'Equivalent'
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
}

export function validateSelectors(match: Stored, errors: FieldErrors, field: string): void {
  for (const name of ['namespaceSelector', 'objectSelector']) {
    validateLabelSelector(match[name], errors, field === '' ? name : `${field}.${name}`)
  }
}
