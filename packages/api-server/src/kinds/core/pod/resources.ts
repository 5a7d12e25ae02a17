/** Requests and limits of containers and pods. */
import { ownValue } from '../../../registry/equality.ts'
import type { Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '../../../schema/field-errors.ts'
import { compareQuantities, isIntegerQuantity, quantitySign } from '../../../schema/quantity.ts'
import { invalidAll, sortedKeys } from '../../../schema/validation/labels.ts'
import { qualifiedName } from '../../../schema/validation/names.ts'

const STANDARD_CONTAINER = new Set(['cpu', 'memory', 'ephemeral-storage'])
const STANDARD_QUOTA = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
])
const STANDARD = new Set([...STANDARD_QUOTA, 'storage'])
const INTEGER = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-')

function isNative(name: string): boolean {
  return !name.includes('/') || name.split('/')[0]!.endsWith('kubernetes.io')
}

export function isExtendedResource(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false
  return qualifiedName(`requests.${name}`).length === 0
}

const isIntegerResource = (name: string): boolean => INTEGER.has(name) || isExtendedResource(name)

/** Also of LimitRange and ResourceQuota. */
export function validateResourceName(name: string, errors: FieldErrors, field: string): boolean {
  const messages = qualifiedName(name)
  invalidAll(errors, field, name, messages)
  if (messages.length > 0) return false
  if (!name.includes('/') && !STANDARD.has(name) && !isHugePages(name) && !isQuotaHugePages(name)) {
    errors.invalid(field, name, 'must be a standard resource type or fully qualified')
  }
  return true
}

function isQuotaHugePages(name: string): boolean {
  return name.startsWith('requests.hugepages-') || name.startsWith('limits.hugepages-')
}

export function validateContainerResourceName(
  name: string,
  errors: FieldErrors,
  field: string,
): void {
  validateResourceName(name, errors, field)
  if (!name.includes('/')) {
    if (!STANDARD_CONTAINER.has(name) && !isHugePages(name))
      errors.invalid(field, name, 'must be a standard resource for containers')
  } else if (!isNative(name) && !isExtendedResource(name)) {
    errors.invalid(field, name, "doesn't follow extended resource name standard")
  }
}

export function validateQuotaResourceName(name: string, errors: FieldErrors, field: string): void {
  validateResourceName(name, errors, field)
  if (!name.includes('/')) {
    const countOf = name.startsWith('count/')
    if (!STANDARD_QUOTA.has(name) && !isHugePages(name) && !isQuotaHugePages(name) && !countOf) {
      errors.invalid(field, name, 'must be a standard resource for quota')
    }
  }
}

export function validateResourceQuantity(
  name: string,
  quantity: string,
  errors: FieldErrors,
  field: string,
): void {
  if (quantitySign(quantity) < 0)
    errors.invalid(field, quantity, 'must be greater than or equal to 0')
  if (isIntegerResource(name) && !isIntegerQuantity(quantity))
    errors.invalid(field, quantity, 'must be an integer')
}

/** Extended resources and huge pages cannot be overcommitted. */
const mayOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name)

export function validateResourceRequirements(
  resources: Stored | undefined,
  errors: FieldErrors,
  field: string,
  claims?: ReadonlySet<string>,
): void {
  if (!resources) return
  const limits: Stored = resources.limits ?? {}
  const requests: Stored = resources.requests ?? {}
  for (const name of sortedKeys(limits)) {
    const at = `${field}.limits[${name}]`
    validateContainerResourceName(name, errors, at)
    validateResourceQuantity(name, limits[name], errors, at)
  }
  for (const name of sortedKeys(requests)) {
    const at = `${field}.requests[${name}]`
    const request: string = requests[name]
    const limit: string | undefined = ownValue(limits, name)
    validateContainerResourceName(name, errors, at)
    validateResourceQuantity(name, request, errors, at)
    if (limit === undefined) {
      if (!mayOvercommit(name))
        errors.required(`${field}.limits`, 'Limit must be set for non overcommitable resources')
    } else if (!mayOvercommit(name) && compareQuantities(request, limit) !== 0) {
      errors.invalid(`${field}.requests`, request, `must be equal to ${name} limit of ${limit}`)
    } else if (compareQuantities(request, limit) > 0) {
      errors.invalid(
        `${field}.requests`,
        request,
        `must be less than or equal to ${name} limit of ${limit}`,
      )
    }
  }
  validateHugePages(limits, requests, errors, field)
  validateClaims(resources.claims, errors, `${field}.claims`, claims)
}

function validateHugePages(
  limits: Stored,
  requests: Stored,
  errors: FieldErrors,
  field: string,
): void {
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (!names.some(isHugePages)) return
  if (!names.includes('cpu') && !names.includes('memory')) {
    errors.forbidden(field, 'HugePages require cpu or memory')
  }
}

function validateClaims(
  claims: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
  known: ReadonlySet<string> | undefined,
): void {
  const seen = new Set<string>()
  for (const [index, claim] of (claims ?? []).entries()) {
    const name: string = claim.name ?? ''
    if (name === '') errors.required(`${field}[${index}].name`)
    else {
      const key = claim.request ? `${name}/${claim.request}` : name
      if (seen.has(key) || (claim.request && seen.has(name)))
        errors.duplicate(`${field}[${index}]`, key)
      seen.add(key)
    }
    if (known && !known.has(name)) errors.notFound(`${field}[${index}].name`, name)
  }
}
