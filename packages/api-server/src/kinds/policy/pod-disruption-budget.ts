import type { PodDisruptionBudget } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { emptyStatus } from '@gyropilot/schema/decode'
import { validateLabelSelector } from '@gyropilot/schema/validation/labels'
import {
  validateAtMost100Percent,
  validateIntOrPercent,
  validateNonNegative,
} from '@gyropilot/schema/validation/numbers'
import { tableColumns } from '../columns.ts'
import { printedSelector } from '../workload-template.ts'
import { validateConditions } from '../conditions.ts'

const text = (value: unknown): string => (value === undefined ? 'N/A' : String(value))

export const podDisruptionBudget: KindRules<PodDisruptionBudget> = {
  group: 'policy',
  kind: 'PodDisruptionBudget',
  name: 'path-segment',
  unconditionalUpdate: false,
  prepareForCreate(object) {
    object.status = emptyStatus({ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' })
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
      const printed = {
        MinAvailable: spec.minAvailable,
        Selector: spec.selector ? printedSelector(spec.selector) : null,
        MaxUnavailable: spec.maxUnavailable,
        UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
      }
      errors.invalid('spec', printed, 'minAvailable and maxUnavailable cannot be both set')
    }
    for (const field of ['minAvailable', 'maxUnavailable'] as const) {
      if (spec[field] === undefined) continue
      validateIntOrPercent(spec[field], errors, `spec.${field}`)
      validateAtMost100Percent(spec[field], errors, `spec.${field}`)
    }
    validateLabelSelector(spec.selector, errors, 'spec.selector')
    const policies = ['AlwaysAllow', 'IfHealthyBudget']
    if (
      spec.unhealthyPodEvictionPolicy !== undefined &&
      !policies.includes(spec.unhealthyPodEvictionPolicy)
    ) {
      errors.notSupported(
        'spec.unhealthyPodEvictionPolicy',
        spec.unhealthyPodEvictionPolicy,
        policies,
      )
    }
  },
  status: {
    validateUpdate(object, _stored, errors) {
      validateConditions(object.status?.conditions, errors, 'status.conditions')
      for (const field of [
        'disruptionsAllowed',
        'currentHealthy',
        'desiredHealthy',
        'expectedPods',
      ] as const)
        validateNonNegative(object.status?.[field], errors, `status.${field}`)
    },
  },
  columns: tableColumns('policy/poddisruptionbudgets', {
    'Min Available': (object) => text(object.spec?.minAvailable),
    'Max Unavailable': (object) => text(object.spec?.maxUnavailable),
    'Allowed Disruptions': (object) => object.status?.disruptionsAllowed ?? 0,
  }),
}
