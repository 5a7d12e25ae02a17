import type { IPAddress, ServiceCIDR } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { KindRules, Stored, StoredOf } from '../../registry/kind-rules.ts'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain, pathSegment } from '@gyropilot/schema/validation/names'
import {
  IP_MESSAGE,
  formatCidr,
  formatIp,
  isMappedIp,
  parseCidr,
  parseIp,
  validateCidr,
} from '@gyropilot/schema/validation/ip'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'

export const serviceCidr: KindRules<ServiceCIDR> = {
  group: 'networking.k8s.io',
  kind: 'ServiceCIDR',
  generationOf: null,
  prepareForCreate(object) {
    object.status = {}
  },
  validate: validateCidrs,
  updateOrder: 'update-only',
  validateUpdate(object, stored, errors) {
    const before: readonly string[] = stored.spec?.cidrs ?? []
    const now: readonly string[] = object.spec?.cidrs ?? []
    const changed = (index: number): void => {
      if (now[index] !== before[index])
        errors.invalid(`spec.cidrs[${index}]`, now[index], 'field is immutable')
    }
    if (now.length === before.length) for (const index of now.keys()) changed(index)
    else if (before.length === 1 && now.length === 2) {
      // A second family may be added.
      changed(0)
      validateCidrs(object, errors)
    } else errors.invalid('spec.cidrs', givenValue(object.spec, 'cidrs'), 'field is immutable')
  },
  columns: tableColumns('networking.k8s.io/servicecidrs', {
    CIDRs: (object) => (object.spec?.cidrs ?? []).join(','),
  }),
}

/** An IPv4 address in an IPv6 one is IPv4. */
function familyOf(cidr: string): 4 | 6 | undefined {
  const parsed = parseCidr(cidr, true)
  return parsed !== undefined && isMappedIp(parsed) ? 4 : parsed?.family
}

function validateCidrs(object: StoredOf<ServiceCIDR>, errors: FieldErrors): void {
  const cidrs: readonly string[] = object.spec?.cidrs ?? []
  if (cidrs.length === 0) {
    errors.required('spec.cidrs', 'at least one CIDR required')
    return
  }
  if (cidrs.length > 2) {
    errors.invalid('spec.cidrs', { CIDRs: cidrs }, 'may only hold up to 2 values')
    return
  }
  for (const [index, cidr] of cidrs.entries()) {
    const parsed = parseCidr(cidr)
    validateCidr(cidr, errors, `spec.cidrs[${index}]`)
    if (parsed && !isMappedIp(parsed)) {
      if (formatCidr(parsed) !== cidr)
        errors.invalid(
          `spec.cidrs[${index}]`,
          cidr,
          `must be in canonical form (${JSON.stringify(formatCidr(parsed))})`,
        )
    }
  }
  const [first, second] = cidrs.map(familyOf)
  if (cidrs.length === 2 && first === second && first !== undefined) {
    errors.invalid(
      'spec.cidrs',
      cidrs,
      'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    )
  }
}

function internalParent(object: StoredOf<IPAddress>): Stored | null {
  const parent = object.spec?.parentRef
  if (!parent) return null
  const { group = '', resource = '', namespace = '', name = '' } = parent
  return { Group: group, Resource: resource, Namespace: namespace, Name: name }
}

export const ipAddress: KindRules<IPAddress> = {
  group: 'networking.k8s.io',
  kind: 'IPAddress',
  keepsGeneratedName: true,
  generationOf: null,
  name(name) {
    const ip = parseIp(name)
    if (!ip) return [parseIp(name, true) === undefined ? IP_MESSAGE : 'must not have leading 0s']
    if (isMappedIp(ip)) return ['must not be an IPv4-mapped IPv6 address']
    return formatIp(ip) === name
      ? []
      : [`must be in canonical form (${JSON.stringify(formatIp(ip))})`]
  },
  validate(object, errors) {
    const parent = object.spec?.parentRef
    if (!parent) {
      errors.required('spec.parentRef')
      return
    }
    const { group = '', resource = '', name = '', namespace = '' } = parent
    if (group !== '') invalidAll(errors, 'spec.parentRef.group', group, dnsSubdomain(group))
    if (resource === '') errors.required('spec.parentRef.resource')
    else invalidAll(errors, 'spec.parentRef.resource', resource, pathSegment(resource))
    if (name === '') errors.required('spec.parentRef.name')
    else invalidAll(errors, 'spec.parentRef.name', name, pathSegment(name))
    if (namespace !== '')
      invalidAll(errors, 'spec.parentRef.namespace', namespace, pathSegment(namespace))
  },
  validateUpdate(object, stored, errors) {
    if (!deepEqual(object.spec?.parentRef, stored.spec?.parentRef))
      errors.invalid('spec.parentRef', internalParent(object), 'field is immutable')
  },
  columns: [
    nameColumn,
    column(
      'ParentRef',
      'string',
      'ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object.',
      (object) => {
        const parent = object.spec?.parentRef
        if (!parent) return '<none>'
        const { group, resource = '', namespace, name = '' } = parent
        const prefix = (group ? `${resource}.${group}` : resource).toLowerCase()
        return `${prefix}/${namespace ? `${namespace}/` : ''}${name}`
      },
    ),
    { ...ageColumn, undeclared: true },
  ],
}
