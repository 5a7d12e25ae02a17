/** Requests and limits of containers and pods. */
import type { ResourceClaim as ContainerClaim } from '@gyropilot/api/core-v1'
import type { PodSpec, Quantity, ResourceRequirements } from '@gyropilot/api'
import { ownValue } from '../../../registry/equality.ts'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import {
  addQuantities,
  compareQuantities,
  isIntegerQuantity,
  quantitySign,
  quantityToInteger,
} from '@gyropilot/api'
import { invalidAll, sortedKeys } from '@gyropilot/schema/validation/labels'
import { dnsLabel, qualifiedName } from '@gyropilot/schema/validation/names'

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

function isExtendedResource(name: string): boolean {
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

export const isStandardQuotaResource = (name: string): boolean =>
  STANDARD_QUOTA.has(name) || isHugePages(name) || isQuotaHugePages(name)

export function validateQuotaResourceName(name: string, errors: FieldErrors, field: string): void {
  validateResourceName(name, errors, field)
  if (!name.includes('/')) {
    if (!isStandardQuotaResource(name)) {
      errors.invalid(field, name, 'must be a standard resource for quota')
    }
  }
}

export function validateResourceQuantity(
  name: string,
  quantity: Quantity,
  errors: FieldErrors,
  field: string,
): void {
  if (quantitySign(quantity) < 0)
    errors.invalid(field, quantity, 'must be greater than or equal to 0')
  if (isIntegerResource(name) && !isIntegerQuantity(quantity))
    errors.invalid(field, quantity, 'must be an integer')
}

/** Extended resources and huge pages cannot be overcommitted. */
export const mayOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name)

type NameCheck = (name: string, errors: FieldErrors, field: string) => void

export function validateResourceRequirements(
  resources: StoredOf<ResourceRequirements> | undefined,
  errors: FieldErrors,
  field: string,
  claims?: ReadonlySet<string>,
  validateName: NameCheck = validateContainerResourceName,
): void {
  if (!resources) return
  const limits = resources.limits ?? {}
  const requests = resources.requests ?? {}
  for (const name of sortedKeys(limits)) {
    const limit = limits[name]!
    const at = `${field}.limits[${name}]`
    validateName(name, errors, at)
    validateResourceQuantity(name, limit, errors, at)
    validateHugePageAmount(name, limit, errors, at)
  }
  for (const name of sortedKeys(requests)) {
    const at = `${field}.requests[${name}]`
    const request = requests[name]!
    const limit = ownValue(limits, name)
    validateName(name, errors, at)
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
    validateHugePageAmount(name, request, errors, at)
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    errors.forbidden(field, 'HugePages require cpu or memory')
  validateClaims(resources.claims, errors, `${field}.claims`, claims ?? new Set())
}

/** Whole pages only, of the size that the resource's name says. */
function validateHugePageAmount(
  name: string,
  amount: Quantity,
  errors: FieldErrors,
  field: string,
): void {
  if (!isHugePages(name)) return
  const size = name.slice('hugepages-'.length)
  const pageBytes = /^[0-9]+(?:[KMGTPE]i|[kMGTPE])?$/.test(size) ? quantityToInteger(size) : 0
  if (pageBytes > 0 && quantityToInteger(amount) % pageBytes === 0) return
  errors.invalid(field, amount, `${amount} is not positive integer multiple of ${name}`)
}

const POD_LEVEL = ['cpu', 'memory']

function validatePodLevelName(name: string, errors: FieldErrors, field: string): void {
  const before = errors.list.length
  validateResourceName(name, errors, field)
  if (errors.list.length === before && !POD_LEVEL.includes(name) && !isHugePages(name))
    errors.notSupported(field, name, [...POD_LEVEL, 'hugepages-'].toSorted())
}

/** What the pod asks for as a whole bounds what its containers ask for. */
export function validatePodResources(
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
  claims: ReadonlySet<string>,
): void {
  const resources = spec.resources
  if (!resources) return
  if (spec.os?.name === 'windows') {
    errors.forbidden(field, 'may not be set for a windows pod')
    return
  }
  if ((givenValue(resources, 'claims') ?? null) !== null)
    errors.forbidden(`${field}.claims`, 'claims may not be set for Resources at pod-level')
  validateResourceRequirements(resources, errors, field, claims, validatePodLevelName)
  const total = containerRequests(spec)
  for (const name of sortedKeys(total)) {
    const whole = ownValue(resources.requests ?? {}, name)
    if (whole !== undefined && compareQuantities(total[name]!, whole) > 0)
      errors.invalid(
        `${field}.requests[${name}]`,
        whole,
        `must be greater than or equal to aggregate container requests of ${total[name]}`,
      )
  }
  for (const [index, container] of (spec.containers ?? []).entries()) {
    const limits = container.resources?.limits ?? {}
    for (const name of sortedKeys(limits)) {
      const whole = ownValue(resources.limits ?? {}, name)
      if (whole !== undefined && compareQuantities(limits[name]!, whole) > 0)
        errors.invalid(
          `${field}.containers[${index}][${name}].limits`,
          limits[name],
          `must be less than or equal to pod limits of ${whole}`,
        )
    }
  }
}

type ResourceList = Readonly<Record<string, Quantity>>

/** Sidecars run beside the containers; the other init containers one by one, each beside the sidecars before it. */
/** What containers request together: all that run at once, or an init container with the sidecars before it, whatever is more. */
export function containerRequests(spec: StoredOf<PodSpec>): Record<string, string> {
  // Resources are called as people like, `__proto__` too.
  const [running, highest, sidecars] = [noAmounts(), noAmounts(), noAmounts()]
  const add = (requests: ResourceList | undefined): void => {
    for (const [name, amount] of Object.entries(requests ?? {}))
      running[name] = addQuantities(running[name] ?? '0', amount)
  }
  for (const container of spec.containers ?? []) add(container.resources?.requests)
  for (const container of spec.initContainers ?? []) {
    const requests = container.resources?.requests ?? {}
    if (container.restartPolicy === 'Always') add(requests)
    for (const [name, amount] of Object.entries(requests)) {
      const peak = addQuantities(sidecars[name] ?? '0', amount)
      if (compareQuantities(peak, highest[name] ?? '0') > 0) highest[name] = peak
      if (container.restartPolicy === 'Always') sidecars[name] = peak
    }
  }
  for (const [name, peak] of Object.entries(highest))
    if (compareQuantities(peak, running[name] ?? '0') > 0) running[name] = peak
  return running
}

function noAmounts(): Record<string, string> {
  return Object.create(null) as Record<string, string>
}

function validateClaims(
  claims: readonly StoredOf<ContainerClaim>[] | undefined,
  errors: FieldErrors,
  field: string,
  known: ReadonlySet<string>,
): void {
  const seen = new Set<string>()
  for (const [index, claim] of (claims ?? []).entries()) {
    const { name = '', request = '' } = claim
    const at = `${field}[${index}]`
    if (name === '') {
      errors.required(at)
      continue
    }
    if (seen.has(name)) errors.duplicate(at, name)
    else {
      const key = request === '' ? name : `${name}/${request}`
      if (request !== '') invalidAll(errors, `${at}.request`, request, dnsLabel(request))
      if (seen.has(key)) errors.duplicate(at, key)
      else if (request === '')
        for (const other of seen) if (other.startsWith(`${name}/`)) errors.duplicate(at, name)
      seen.add(key)
    }
    if (!known.has(name)) {
      const names = known.size === 0 ? ' which is empty' : `: ${[...known].toSorted().join(', ')}`
      errors.notFound(at, name, `must be one of the names in pod.spec.resourceClaims${names}`)
    }
  }
}
