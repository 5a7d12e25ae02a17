import type { PodTemplate, ReplicationController } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { emptyStatus } from '@gyropilot/schema/decode'
import { subdomainInBytes } from '../names-in-bytes.ts'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { column, containerCells, labelsText, nameColumn, tableColumns } from '../columns.ts'
import {
  labelsFromTemplate,
  validateMatchingTemplate,
  validateReplicaStatus,
} from '../workload-template.ts'
import { defaultTemplate } from './pod/defaults.ts'
import { validateTemplate } from './pod/spec.ts'
import {
  isSpecifiedAnew,
  podSpecWarnings,
  podTemplateWarnings,
  workloadNameWarnings,
} from './pod/warnings.ts'

export const replicationController: KindRules<ReplicationController> = {
  group: '',
  kind: 'ReplicationController',
  name: subdomainInBytes,
  defaults(object) {
    object.spec ??= {}
    const labels = object.spec.template?.metadata?.labels
    if (labels) {
      if (Object.keys(object.spec.selector ?? {}).length === 0) object.spec.selector = { ...labels }
      labelsFromTemplate(object)
    }
    object.spec.replicas ??= 1
    defaultTemplate(object.spec.template)
  },
  // A status is written with the metadata that was sent, which may lack them.
  canonicalize: labelsFromTemplate,
  prepareForCreate(object) {
    object.status = emptyStatus({ group: '', version: 'v1', kind: 'ReplicationController' })
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    validateNonNegative(spec.minReadySeconds, errors, 'spec.minReadySeconds')
    const selector: Record<string, string> = spec.selector ?? {}
    const keys = Object.keys(selector)
    if (keys.length === 0) errors.required('spec.selector')
    validateNonNegative(spec.replicas, errors, 'spec.replicas')
    if (!spec.template) errors.required('spec.template')
    else {
      const labels: Record<string, string> = spec.template.metadata?.labels ?? {}
      validateMatchingTemplate(
        spec.template,
        keys.every((key) => labels[key] === selector[key]),
        errors,
        'spec.template',
        'ReplicationController',
      )
    }
  },
  status: {
    validateUpdate: (object, _stored, errors) =>
      validateReplicaStatus(object.status ?? {}, [], errors),
  },
  defaultDeletionPolicy: 'Orphan',
  selectableFields: { 'status.replicas': (object) => String(object.status?.replicas ?? 0) },
  warnings(object, stored) {
    if (!isSpecifiedAnew(object, stored)) return []
    // An update is warned of what it replaces.
    const { template } = (stored ?? object).spec ?? {}
    return [...workloadNameWarnings(object, stored), ...podTemplateWarnings(template)]
  },
  columns: tableColumns('replicationcontrollers', {
    Desired: (object) => object.spec?.replicas ?? 0,
    Current: (object) => object.status?.replicas ?? 0,
    Ready: (object) => object.status?.readyReplicas ?? 0,
    ...containerCells,
    Selector: (object) => labelsText(object.spec?.selector),
  }),
}

export const podTemplate: KindRules<PodTemplate> = {
  group: '',
  kind: 'PodTemplate',
  generationOf: (object) => object.template,
  defaults: (object) => defaultTemplate(object.template),
  validate: (object, errors) => validateTemplate(object.template ?? {}, errors, 'template'),
  columns: [
    nameColumn,
    column('Containers', 'string', 'Names of each container in the template.', (object) =>
      containerList(object, 'name'),
    ),
    column('Images', 'string', 'Images referenced by each container in the template.', (object) =>
      containerList(object, 'image'),
    ),
    column('Pod Labels', 'string', 'The labels for the pod template.', (object) =>
      labelsText(object.template?.metadata?.labels),
    ),
  ],
  warnings: (object, stored) =>
    isSpecifiedAnew(object, stored)
      ? podSpecWarnings(object.template?.spec ?? {}, object.template?.metadata, 'template.spec')
      : [],
}

function containerList(object: StoredOf<PodTemplate>, field: 'name' | 'image'): string {
  return (object.template?.spec?.containers ?? []).map((container) => container[field]).join(',')
}
