import type { KindRules, Stored } from '../../registry/kind-rules.ts'
import { tableColumns } from '../columns.ts'

const NAME_LABEL = 'kubernetes.io/metadata.name'

/** The label that carries the name cannot be edited: it is put back. */
function keepNameLabel(object: Stored): void {
  if (object.metadata?.name)
    object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: object.metadata.name }
}

export const namespace: KindRules = {
  group: '',
  kind: 'Namespace',
  name: 'label',
  defaults: keepNameLabel,
  prepareForCreate(object) {
    keepNameLabel(object)
    object.spec ??= {}
    const finalizers: string[] = object.spec.finalizers ?? []
    object.spec.finalizers = finalizers.includes('kubernetes')
      ? finalizers
      : [...finalizers, 'kubernetes']
    object.status = { phase: 'Active' }
  },
  prepareForUpdate(object, stored) {
    object.spec = { ...object.spec, finalizers: stored.spec?.finalizers }
    if (object.spec.finalizers === undefined) delete object.spec.finalizers
    object.status = stored.status
  },
  generationOf: null,
  selectableFields: {
    name: (object) => object.metadata?.name ?? '',
    'status.phase': (object) => object.status?.phase ?? '',
  },
  columns: tableColumns('namespaces', { Status: (object) => object.status?.phase ?? '' }),
}
