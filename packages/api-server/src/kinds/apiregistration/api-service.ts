import type { APIService } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dns1035Label, dnsSubdomain, pathSegment } from '@gyropilot/schema/validation/names'
import { ageColumn, column, nameColumn } from '../columns.ts'

function availability(object: StoredOf<APIService>): string {
  const condition = (object.status?.conditions ?? []).find(({ type }) => type === 'Available')
  if (condition === undefined) return 'Unknown'
  const { status = '', reason } = condition
  return status === 'True' || !reason ? status : `${status} (${reason})`
}

export const apiService: KindRules<APIService> = {
  group: 'apiregistration.k8s.io',
  kind: 'APIService',
  name(name, _generated, object) {
    const problems = pathSegment(name)
    const { group = '', version = '' } = object.spec ?? {}
    const expected = `${version}.${group}`
    if (problems.length > 0 || name === expected) return problems
    return [`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`]
  },
  generationOf: null,
  unconditionalUpdate: false,
  defaults(object) {
    if (object.spec?.service) object.spec.service.port ??= 443
  },
  prepareForCreate(object, { nowMs }) {
    object.status = object.spec?.service ? {} : locallyAvailable(formatTime(nowMs))
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    const { group = '', version = '' } = spec
    if (group !== '') invalidAll(errors, 'spec.group', group, dnsSubdomain(group))
    else if (version !== 'v1')
      errors.required('spec.group', 'only v1 may have an empty group and it better be legacy kube')
    invalidAll(errors, 'spec.version', version, dns1035Label(version))
    const { groupPriorityMinimum: minimum = 0, versionPriority = 0 } = spec
    if (!(minimum > 0 && minimum <= 20000))
      errors.invalid(
        'spec.groupPriorityMinimum',
        spec.groupPriorityMinimum ?? 0,
        'must be positive and less than 20000',
      )
    if (!(versionPriority > 0 && versionPriority <= 1000))
      errors.invalid(
        'spec.versionPriority',
        spec.versionPriority ?? 0,
        'must be positive and less than 1000',
      )
    if (!spec.service) {
      if (spec.caBundle)
        errors.invalid(
          'spec.caBundle',
          `${Buffer.from(spec.caBundle, 'base64').length} bytes`,
          'local APIServices may not have a caBundle',
        )
      if (spec.insecureSkipTLSVerify)
        errors.invalid(
          'spec.insecureSkipTLSVerify',
          true,
          'local APIServices may not have insecureSkipTLSVerify',
        )
      return
    }
    if (!spec.service.namespace) errors.required('spec.service.namespace')
    if (!spec.service.name) errors.required('spec.service.name')
    const port: number = spec.service.port ?? 0
    if (!(port >= 1 && port <= 65535))
      errors.invalid(
        'spec.service.port',
        port,
        'port is not valid: must be between 1 and 65535, inclusive',
      )
    if (spec.insecureSkipTLSVerify === true && spec.caBundle)
      errors.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')
  },
  status: {
    validateUpdate(object, _stored, errors) {
      const supported = ['True', 'False', 'Unknown']
      for (const [index, { status = '' }] of (object.status?.conditions ?? []).entries()) {
        if (!supported.includes(status))
          errors.notSupported(`status.conditions[${index}].status`, status, supported)
      }
    },
  },
  columns: [
    nameColumn,
    column(
      'Service',
      'string',
      'The reference to the service that hosts this API endpoint.',
      (object) =>
        object.spec?.service
          ? `${object.spec.service.namespace}/${object.spec.service.name}`
          : 'Local',
    ),
    column('Available', 'string', 'Whether this service is available.', availability),
    ageColumn,
  ],
}

/** Says of an APIService that it was made for what is served here: `onstart` of what is built in, `true` of definitions. */
export const AUTOMANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged'

export const LOCAL = { reason: 'Local', message: 'Local APIServices are always available' } as const

/** What this server serves itself needs no look at anybody else. */
export function locallyAvailable(time: string): NonNullable<APIService['status']> {
  return {
    conditions: [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: time,
        ...LOCAL,
      },
    ],
  }
}
