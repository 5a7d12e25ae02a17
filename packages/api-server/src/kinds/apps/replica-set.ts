import type { ReplicaSet } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { containerCells, selectorText, tableColumns } from '../columns.ts'
import { defaultTemplate } from '../core/pod/defaults.ts'
import {
  validateReplicaStatus,
  validateSelectorAndTemplate,
  validateSelectorUnchanged,
} from '../workload-template.ts'
import { templateWarnings } from './deployment.ts'

export const replicaSet: KindRules<ReplicaSet> = {
  group: 'apps',
  kind: 'ReplicaSet',
  defaults(object) {
    object.spec ??= {}
    object.spec.replicas ??= 1
    defaultTemplate(object.spec.template)
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    validateNonNegative(spec.replicas, errors, 'spec.replicas')
    validateNonNegative(spec.minReadySeconds, errors, 'spec.minReadySeconds')
    // kube-apiserver says deployment here too.
    validateSelectorAndTemplate(spec, 'deployment', errors)
  },
  validateUpdate: validateSelectorUnchanged,
  status: {
    validateUpdate: (object, _stored, errors) =>
      validateReplicaStatus(object.status ?? {}, ['terminatingReplicas'], errors),
  },
  warnings: templateWarnings,
  columns: tableColumns('apps/replicasets', {
    Desired: (object) => object.spec?.replicas ?? 0,
    Current: (object) => object.status?.replicas ?? 0,
    Ready: (object) => object.status?.readyReplicas ?? 0,
    ...containerCells,
    Selector: (object) => selectorText(object.spec?.selector),
  }),
}
