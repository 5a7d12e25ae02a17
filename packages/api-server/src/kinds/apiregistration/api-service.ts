import type { KindRules, Stored } from '../../registry/kind-rules.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'

function availability(object: Stored): string {
  const condition = (object.status?.conditions ?? []).find(
    ({ type }: Stored) => type === 'Available',
  )
  if (condition === undefined) return '<unknown>'
  return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason})`
}

export const apiService: KindRules = {
  group: 'apiregistration.k8s.io',
  kind: 'APIService',
  name: 'path-segment',
  generationOf: null,
  defaults(object) {
    if (object.spec?.service) object.spec.service.port ??= 443
  },
  prepareForCreate(object) {
    object.status = {}
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    const expected = `${spec.version ?? ''}.${spec.group ?? ''}`
    if (object.metadata?.name !== expected)
      errors.invalid(
        'metadata.name',
        object.metadata?.name ?? '',
        `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`,
      )
    if (!spec.group)
      errors.required('spec.group', 'only v1 may have an empty group and it better be legacy kube')
    if (!(spec.groupPriorityMinimum > 0 && spec.groupPriorityMinimum <= 20000))
      errors.invalid(
        'spec.groupPriorityMinimum',
        spec.groupPriorityMinimum ?? 0,
        'must be positive and less than 20000',
      )
    if (!(spec.versionPriority > 0 && spec.versionPriority <= 1000))
      errors.invalid(
        'spec.versionPriority',
        spec.versionPriority ?? 0,
        'must be positive and less than 1000',
      )
    if (!spec.service) {
      if (spec.caBundle)
        errors.invalid(
          'spec.caBundle',
          `${spec.caBundle.length} bytes`,
          'local APIServices may not have a caBundle',
        )
      return
    }
    if (!spec.service.namespace) errors.required('spec.service.namespace')
    if (!spec.service.name) errors.required('spec.service.name')
    if (spec.insecureSkipTLSVerify === true && spec.caBundle)
      errors.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')
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
