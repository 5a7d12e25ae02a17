import type { PriorityClass } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'

const HIGHEST_USER_VALUE = 1000000000
const SYSTEM: Readonly<Record<string, number>> = {
  'system-node-critical': 2000001000,
  'system-cluster-critical': 2000000000,
}

export const priorityClass: KindRules<PriorityClass> = {
  group: 'scheduling.k8s.io',
  kind: 'PriorityClass',
  // It starts at 1 and stays there.
  generationOf: () => null,
  defaults(object) {
    object.preemptionPolicy ??= 'PreemptLowerPriority'
  },
  validate(object, errors) {
    const name: string = object.metadata?.name ?? ''
    const value: number = object.value ?? 0
    if (name.startsWith('system-')) {
      if (SYSTEM[name] !== value || object.globalDefault === true) {
        const why =
          SYSTEM[name] === undefined
            ? `${name} is not a known system priority class`
            : SYSTEM[name] !== value
              ? `value of ${name} PriorityClass must be ${SYSTEM[name]}`
              : `globalDefault of ${name} PriorityClass must be false`
        errors.forbidden(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`,
        )
      }
    } else if (value > HIGHEST_USER_VALUE) {
      errors.forbidden(
        'value',
        `maximum allowed value of a user defined priority is ${HIGHEST_USER_VALUE}`,
      )
    }
    const policies = ['PreemptLowerPriority', 'Never']
    if (!object.preemptionPolicy) errors.required('preemptionPolicy')
    else if (!policies.includes(object.preemptionPolicy))
      errors.notSupported('preemptionPolicy', object.preemptionPolicy, policies)
  },
  undeletable: (name) =>
    Object.hasOwn(SYSTEM, name)
      ? 'this is a system priority class and cannot be deleted'
      : undefined,
  updateOrder: 'update-only',
  validateUpdate(object, stored, errors) {
    if ((object.value ?? 0) !== (stored.value ?? 0))
      errors.forbidden('value', 'may not be changed in an update.')
    if (object.preemptionPolicy !== stored.preemptionPolicy)
      errors.invalid('preemptionPolicy', object.preemptionPolicy ?? null, 'field is immutable')
  },
  columns: [
    nameColumn,
    column(
      'Value',
      'integer',
      'value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.',
      (object) => object.value ?? 0,
    ),
    column(
      'Global-Default',
      'boolean',
      'globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.',
      (object) => object.globalDefault === true,
    ),
    ageColumn,
    column(
      'PreemptionPolicy',
      'string',
      'preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.',
      (object) => object.preemptionPolicy ?? '',
    ),
  ],
}
