import type { KindRules, Stored } from '../../registry/kind-rules.ts'
import {
  CIDR_MESSAGE,
  formatCidr,
  formatIp,
  parseCidr,
  parseIp,
  validateCidr,
} from '../../schema/validation/ip.ts'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'
import { sameJson } from '../workload-template.ts'

export const serviceCidr: KindRules = {
  group: 'networking.k8s.io',
  kind: 'ServiceCIDR',
  prepareForCreate(object) {
    object.status = {}
  },
  generationOf: null,
  validate(object, errors) {
    const cidrs: readonly string[] = object.spec?.cidrs ?? []
    if (cidrs.length === 0) {
      errors.required('spec.cidrs', 'at least one CIDR required')
      return
    }
    if (cidrs.length > 2) {
      errors.invalid('spec', { CIDRs: cidrs }, 'may only hold up to 2 values')
      return
    }
    for (const [index, cidr] of cidrs.entries()) {
      const parsed = parseCidr(cidr)
      if (!parsed) errors.invalid(`spec.cidrs[${index}]`, cidr, CIDR_MESSAGE)
      else {
        validateCidr(cidr, errors, `spec.cidrs[${index}]`)
        if (formatCidr(parsed) !== cidr)
          errors.invalid(
            `spec.cidrs[${index}]`,
            cidr,
            `must be in canonical form (${JSON.stringify(formatCidr(parsed))})`,
          )
      }
    }
    if (cidrs.length === 2 && parseCidr(cidrs[0]!)?.family === parseCidr(cidrs[1]!)?.family) {
      errors.invalid(
        'spec.cidrs',
        cidrs,
        'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/96',
      )
    }
  },
  validateUpdate(object, stored, errors) {
    if (!sameJson(object.spec?.cidrs ?? null, stored.spec?.cidrs ?? null))
      errors.invalid('spec.cidrs', object.spec?.cidrs ?? null, 'field is immutable')
  },
  columns: tableColumns('networking.k8s.io/servicecidrs', {
    CIDRs: (object) => (object.spec?.cidrs ?? []).join(','),
  }),
}

export const ipAddress: KindRules = {
  group: 'networking.k8s.io',
  kind: 'IPAddress',
  generationOf: null,
  name(name) {
    const ip = parseIp(name)
    if (!ip) return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
    return formatIp(ip) === name
      ? []
      : [`must be in canonical form (${JSON.stringify(formatIp(ip))})`]
  },
  validate(object, errors) {
    const parent: Stored | undefined = object.spec?.parentRef
    if (!parent) {
      errors.required('spec.parentRef')
      return
    }
    if (!parent.resource) errors.required('spec.parentRef.resource')
    if (!parent.name) errors.required('spec.parentRef.name')
  },
  validateUpdate(object, stored, errors) {
    if (!sameJson(object.spec?.parentRef, stored.spec?.parentRef))
      errors.invalid('spec.parentRef', object.spec?.parentRef ?? null, 'field is immutable')
  },
  columns: [
    nameColumn,
    column(
      'ParentRef',
      'string',
      'ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object.',
      (object) => {
        const parent: Stored | undefined = object.spec?.parentRef
        if (!parent) return '<none>'
        const prefix = parent.group ? `${parent.resource}.${parent.group}` : parent.resource
        return `${prefix}/${parent.namespace ? `${parent.namespace}/` : ''}${parent.name}`
      },
    ),
    ageColumn,
  ],
}
