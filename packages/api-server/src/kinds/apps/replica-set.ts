import type { KindRules, Stored } from '../../registry/kind-rules.ts'
import { validateNonNegative } from '../../schema/validation/numbers.ts'
import { containerCells, selectorText, tableColumns } from '../columns.ts'
import { defaultTemplate } from '../core/pod/defaults.ts'
import {
  validateReplicaCounters,
  validateSelectorAndTemplate,
  validateSelectorUnchanged,
} from '../workload-template.ts'
import { templateWarnings } from './deployment.ts'

export const replicaSet: KindRules = {
  group: 'apps',
  kind: 'ReplicaSet',
  defaults(object) {
    object.spec ??= {}
    object.spec.replicas ??= 1
    defaultTemplate(object.spec.template)
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    validateNonNegative(spec.replicas, errors, 'spec.replicas')
    validateNonNegative(spec.minReadySeconds, errors, 'spec.minReadySeconds')
    // kube-apiserver says deployment here too.
    validateSelectorAndTemplate(spec, 'deployment', errors)
  },
  validateUpdate: validateSelectorUnchanged,
  status: {
    validateUpdate(object, _stored, errors) {
      const status: Stored = object.status ?? {}
      validateReplicaCounters(
        status,
        [
          'replicas',
          'fullyLabeledReplicas',
          'readyReplicas',
          'availableReplicas',
          'observedGeneration',
        ],
        errors,
      )
      const {
        replicas = 0,
        fullyLabeledReplicas = 0,
        readyReplicas = 0,
        availableReplicas = 0,
      } = status
      if (fullyLabeledReplicas > replicas)
        errors.invalid(
          'status.fullyLabeledReplicas',
          fullyLabeledReplicas,
          'cannot be greater than status.replicas',
        )
      if (readyReplicas > replicas)
        errors.invalid(
          'status.readyReplicas',
          readyReplicas,
          'cannot be greater than status.replicas',
        )
      if (availableReplicas > replicas)
        errors.invalid(
          'status.availableReplicas',
          availableReplicas,
          'cannot be greater than status.replicas',
        )
      if (availableReplicas > readyReplicas)
        errors.invalid(
          'status.availableReplicas',
          availableReplicas,
          'cannot be greater than readyReplicas',
        )
    },
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
