import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressClass,
  IngressClassParametersReference,
  IngressSpec,
} from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { emptyStatus, givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { canonicalIpWarnings, parseIp, validateIp } from '@gyropilot/schema/validation/ip'
import { validateDomainPrefixedPath } from '@gyropilot/schema/validation/domain-path'
import {
  dnsLabel,
  dnsSubdomain,
  pathSegment,
  portName,
  wildcardSubdomain,
} from '@gyropilot/schema/validation/names'
import { validatePortNumber } from '@gyropilot/schema/validation/numbers'
import {
  ageColumn,
  balancerAddresses,
  column,
  nameColumn,
  tableColumns,
  withDefaultMark,
} from '../columns.ts'

const CLASS = 'kubernetes.io/ingress.class'
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix']
const INVALID_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F']
const INVALID_SUFFIXES = ['/..', '/.']

function validateHost(host: string, errors: FieldErrors, field: string): void {
  if (host === '') return
  if (parseIp(host, true) !== undefined)
    errors.invalid(field, host, 'must be a DNS name, not an IP address')
  const check = host.includes('*') ? wildcardSubdomain : dnsSubdomain
  invalidAll(errors, field, host, check(host))
}

/** The parts that references to objects of any kind have in common. */
function validateReference(
  reference: StoredOf<IngressClassParametersReference>,
  errors: FieldErrors,
  field: string,
): void {
  const { apiGroup, kind = '', name = '' } = reference
  if (typeof apiGroup === 'string')
    invalidAll(errors, `${field}.apiGroup`, apiGroup, dnsSubdomain(apiGroup))
  if (kind === '') errors.required(`${field}.kind`)
  else invalidAll(errors, `${field}.kind`, kind, pathSegment(kind))
  if (name === '') errors.required(`${field}.name`)
  else invalidAll(errors, `${field}.name`, name, pathSegment(name))
}

function validateBackend(
  backend: StoredOf<IngressBackend>,
  errors: FieldErrors,
  field: string,
): void {
  const { service, resource } = backend
  if (resource && service) {
    errors.invalid(field, '', 'cannot set both resource and service backends')
  } else if (resource) validateReference(resource, errors, `${field}.resource`)
  else if (service) {
    if (!service.name) errors.required(`${field}.service.name`)
    else invalidAll(errors, `${field}.service.name`, service.name, dnsLabel(service.name))
    const { name, number } = service.port ?? {}
    if (name && number) errors.invalid(field, '', 'cannot set both port name & port number')
    else if (name) invalidAll(errors, `${field}.service.port.name`, name, portName(name))
    else if (number) validatePortNumber(number, errors, `${field}.service.port.number`)
    else errors.required(field, 'port name or number is required')
  } else errors.invalid(field, '', 'resource or service backend is required')
}

function validatePath(path: StoredOf<HTTPIngressPath>, errors: FieldErrors, field: string): void {
  const { pathType } = path
  const text: string = path.path ?? ''
  if (pathType === undefined) {
    errors.required(`${field}.pathType`, 'pathType must be specified')
    return
  }
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!text.startsWith('/')) errors.invalid(`${field}.path`, text, 'must be an absolute path')
    if (text !== '') {
      for (const sequence of INVALID_SEQUENCES)
        if (text.includes(sequence))
          errors.invalid(`${field}.path`, text, `must not contain '${sequence}'`)
      for (const suffix of INVALID_SUFFIXES)
        if (text.endsWith(suffix))
          errors.invalid(`${field}.path`, text, `cannot end with '${suffix}'`)
    }
  } else if (pathType === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/'))
      errors.invalid(`${field}.path`, text, 'must be an absolute path')
  } else errors.notSupported(`${field}.pathType`, pathType, PATH_TYPES)
  validateBackend(path.backend ?? {}, errors, `${field}.backend`)
}

function validateSpec(spec: StoredOf<IngressSpec>, errors: FieldErrors): void {
  const rules = spec.rules ?? []
  if (rules.length === 0 && !spec.defaultBackend) {
    errors.invalid(
      'spec',
      givenValue(spec, 'rules'),
      'either `defaultBackend` or `rules` must be specified',
    )
  }
  if (spec.defaultBackend) validateBackend(spec.defaultBackend, errors, 'spec.defaultBackend')
  for (const [index, rule] of rules.entries()) {
    validateHost(rule.host ?? '', errors, `spec.rules[${index}].host`)
    if (!rule.http) continue
    const paths = rule.http.paths ?? []
    if (paths.length === 0) errors.required(`spec.rules[${index}].http.paths`)
    for (const [position, path] of paths.entries())
      validatePath(path, errors, `spec.rules[${index}].http.paths[${position}]`)
  }
  for (const [index, tls] of (spec.tls ?? []).entries()) {
    for (const [position, host] of (tls.hosts ?? []).entries()) {
      const check = host.includes('*') ? wildcardSubdomain : dnsSubdomain
      invalidAll(errors, `spec.tls[${index}].hosts[${position}]`, host, check(host))
    }
    if (tls.secretName)
      invalidAll(
        errors,
        `spec.tls[${index}].secretName`,
        tls.secretName,
        dnsSubdomain(tls.secretName),
      )
  }
  if (spec.ingressClassName !== undefined)
    invalidAll(
      errors,
      'spec.ingressClassName',
      spec.ingressClassName,
      dnsSubdomain(spec.ingressClassName),
    )
}

const HOSTS_SHOWN = 3

function hostsText(object: StoredOf<Ingress>): string {
  const shown: string[] = []
  const rules = object.spec?.rules ?? []
  for (const { host } of rules) {
    // What is left counts rules, also those of no host.
    if (shown.length === HOSTS_SHOWN)
      return `${shown.join(',')} + ${rules.length - HOSTS_SHOWN} more...`
    if (host) shown.push(host)
  }
  return shown.join(',') || '*'
}

export const ingress: KindRules<Ingress> = {
  group: 'networking.k8s.io',
  kind: 'Ingress',
  prepareForCreate(object) {
    object.status = emptyStatus({ group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' })
  },
  validate(object, errors) {
    const annotated: string | undefined = object.metadata?.annotations?.[CLASS]
    if (
      annotated !== undefined &&
      object.spec?.ingressClassName !== undefined &&
      annotated !== object.spec.ingressClassName
    ) {
      errors.invalid(
        `annotations.${CLASS}`,
        annotated,
        'must match `ingressClassName` when both are specified',
      )
    }
    validateSpec(object.spec ?? {}, errors)
  },
  updateOrder: 'update-only',
  validateUpdate: (object, _stored, errors) => validateSpec(object.spec ?? {}, errors),
  status: {
    validateUpdate(object, _stored, errors) {
      for (const [index, entry] of (object.status?.loadBalancer?.ingress ?? []).entries()) {
        const at = `status.loadBalancer.ingress[${index}]`
        if (entry.ip) validateIp(entry.ip, errors, `${at}.ip`)
        if (entry.hostname) {
          invalidAll(errors, `${at}.hostname`, entry.hostname, dnsSubdomain(entry.hostname))
          if (parseIp(entry.hostname))
            errors.invalid(
              `${at}.hostname`,
              entry.hostname,
              'must be a DNS name, not an IP address',
            )
        }
      }
    },
    warnings: ({ status }) =>
      (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }, index) =>
        canonicalIpWarnings(ip, `status.loadBalancer.ingress[${index}]`),
      ),
  },
  warnings: (object, stored) =>
    stored !== undefined ||
    object.spec?.ingressClassName !== undefined ||
    object.metadata?.annotations?.[CLASS] === undefined
      ? []
      : [`annotation "${CLASS}" is deprecated, please use 'spec.ingressClassName' instead`],
  columns: tableColumns('networking.k8s.io/ingresses', {
    Class: ({ spec }) => spec?.ingressClassName ?? '<none>',
    Hosts: hostsText,
    Address: ({ status }) => balancerAddresses(status?.loadBalancer?.ingress).join(','),
    Ports: (object) => ((object.spec?.tls ?? []).length > 0 ? '80, 443' : '80'),
  }),
}

export const ingressClass: KindRules<IngressClass> = {
  group: 'networking.k8s.io',
  kind: 'IngressClass',
  generationOf: (object) => object.spec,
  defaults(object) {
    if (object.spec?.parameters) object.spec.parameters.scope ??= 'Cluster'
  },
  validate(object, errors) {
    const controller: string = object.spec?.controller ?? ''
    if (Buffer.byteLength(controller) > 250) errors.tooLong('spec.controller', 250)
    if (controller === '') errors.required('spec.controller')
    else validateDomainPrefixedPath(controller, errors, 'spec.controller')
    const parameters = object.spec?.parameters
    if (!parameters) return
    validateReference(parameters, errors, 'spec.parameters')
    const { scope = '', namespace } = parameters
    const at = 'spec.parameters.namespace'
    if (!['Cluster', 'Namespace'].includes(scope))
      errors.notSupported('spec.parameters.scope', scope, ['Cluster', 'Namespace'])
    else if (scope === 'Cluster' && namespace !== undefined)
      errors.forbidden(at, "`parameters.scope` is set to 'Cluster'")
    else if (scope === 'Namespace' && namespace === undefined)
      errors.required(at, "`parameters.scope` is set to 'Namespace'")
    else if (namespace !== undefined) invalidAll(errors, at, namespace, dnsLabel(namespace))
  },
  updateOrder: 'update-first',
  validateUpdate(object, stored, errors) {
    if (!deepEqual(object.spec?.controller, stored.spec?.controller))
      errors.invalid('spec.controller', object.spec?.controller ?? '', 'field is immutable')
  },
  columns: withDefaultMark(
    ['ingressclass.kubernetes.io/is-default-class'],
    [
      nameColumn,
      column(
        'Controller',
        'string',
        'Controller that is responsible for handling this class',
        (object) => object.spec?.controller ?? '',
      ),
      column(
        'Parameters',
        'string',
        'A reference to a resource with additional parameters',
        (object) => {
          const parameters = object.spec?.parameters
          if (!parameters) return '<none>'
          const { kind, apiGroup, name } = parameters
          return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`
        },
      ),
      ageColumn,
    ],
  ),
}
