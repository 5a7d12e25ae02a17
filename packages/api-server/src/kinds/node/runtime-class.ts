import type { RuntimeClass } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { invalidAll, validateLabels } from '@gyropilot/schema/validation/labels'
import { dnsLabel } from '@gyropilot/schema/validation/names'
import { tableColumns } from '../columns.ts'
import { validateResourceQuantity } from '../core/pod/resources.ts'
import { validateTolerations } from '../core/pod/scheduling.ts'

export const runtimeClass: KindRules<RuntimeClass> = {
  group: 'node.k8s.io',
  kind: 'RuntimeClass',
  generationOf: null,
  unconditionalUpdate: false,
  validate(object, errors) {
    const handler: string = object.handler ?? ''
    if (handler === '') errors.required('handler')
    else invalidAll(errors, 'handler', handler, dnsLabel(handler))
    const overhead = object.overhead?.podFixed ?? {}
    for (const name of Object.keys(overhead).toSorted())
      validateResourceQuantity(name, overhead[name]!, errors, `overhead.podFixed[${name}]`)
    validateLabels(object.scheduling?.nodeSelector, errors, 'scheduling.nodeSelector')
    validateTolerations(object.scheduling?.tolerations, errors, 'scheduling.tolerations')
  },
  validateUpdate(object, stored, errors) {
    if (object.handler !== stored.handler)
      errors.invalid('handler', object.handler ?? '', 'field is immutable')
  },
  columns: tableColumns('node.k8s.io/runtimeclasses', {
    Handler: (object) => object.handler ?? '',
  }),
}
