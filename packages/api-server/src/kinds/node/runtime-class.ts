import type { RuntimeClass, Toleration } from '@gyropilot/api'
import { internalForm } from '@gyropilot/schema/internal-form'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { invalidAll, validateLabels } from '@gyropilot/schema/validation/labels'
import { dnsLabel } from '@gyropilot/schema/validation/names'
import { tableColumns } from '../columns.ts'
import { nodeLabelWarnings } from '../core/node-label-warnings.ts'
import { validateResourceRequirements } from '../core/pod/resources.ts'
import { validateTolerations } from '../core/pod/scheduling.ts'

/** Whatever the time for which they tolerate. */
function isSameToleration(a: StoredOf<Toleration>, b: StoredOf<Toleration>): boolean {
  return (['key', 'operator', 'value', 'effect'] as const).every(
    (field) => (a[field] ?? '') === (b[field] ?? ''),
  )
}

export const runtimeClass: KindRules<RuntimeClass> = {
  group: 'node.k8s.io',
  kind: 'RuntimeClass',
  generationOf: null,
  createOnUpdate: true,
  unconditionalUpdate: false,
  validate(object, errors) {
    const handler: string = object.handler ?? ''
    if (handler === '') errors.required('handler')
    else invalidAll(errors, 'handler', handler, dnsLabel(handler))
    // Overhead is checked as the limits of a container would be.
    validateResourceRequirements({ limits: object.overhead?.podFixed }, errors, 'overhead')
    validateLabels(object.scheduling?.nodeSelector, errors, 'scheduling.nodeSelector')
    const tolerations = object.scheduling?.tolerations ?? []
    validateTolerations(tolerations, errors, 'scheduling.tolerations')
    for (const [index, toleration] of tolerations.entries())
      if (tolerations.slice(0, index).some((other) => isSameToleration(other, toleration)))
        errors.duplicate(`scheduling.tolerations[${index}]`, internalForm(toleration, 'Toleration'))
  },
  validateUpdate(object, stored, errors) {
    if (object.handler !== stored.handler)
      errors.invalid('handler', object.handler ?? '', 'field is immutable')
  },
  // Which label it is has no part in the path.
  warnings: ({ scheduling }) =>
    nodeLabelWarnings(scheduling?.nodeSelector, () => 'scheduling.nodeSelector'),
  columns: tableColumns('node.k8s.io/runtimeclasses', {
    Handler: (object) => object.handler ?? '',
  }),
}
