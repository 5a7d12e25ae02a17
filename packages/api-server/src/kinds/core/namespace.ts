import type { Namespace } from '@gyropilot/api'
import type { DraftOf, KindRules } from '../../registry/kind-rules.ts'
import { validateFinalizer } from '@gyropilot/schema/validation/metadata'
import { dnsLabel } from '@gyropilot/schema/validation/names'
import { tableColumns } from '../columns.ts'

const NAME_LABEL = 'kubernetes.io/metadata.name'

/** The label that carries the name cannot be edited: it is put back. */
function keepNameLabel(object: DraftOf<Namespace>): void {
  if (object.metadata?.name)
    object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: object.metadata.name }
}

export const namespace: KindRules<Namespace> = {
  group: '',
  kind: 'Namespace',
  name: 'label',
  defaults(object) {
    keepNameLabel(object)
    object.status ??= {}
    object.status.phase ||= 'Active'
  },
  canonicalize: keepNameLabel,
  prepareForCreate(object) {
    // A generated name was not known before. What is wrong with one is told of the name alone.
    if (dnsLabel(object.metadata?.name ?? '').length === 0) keepNameLabel(object)
    object.spec ??= {}
    const finalizers = object.spec.finalizers ?? []
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
  validate(object, errors) {
    for (const finalizer of object.spec?.finalizers ?? [])
      validateFinalizer(finalizer, errors, 'spec.finalizers')
  },
  status: {
    validateUpdate(object, _stored, errors) {
      const [phase, when] =
        object.metadata?.deletionTimestamp === undefined
          ? ['Active', 'is empty']
          : ['Terminating', 'is not empty']
      const given: string = object.status?.phase ?? ''
      if (given === phase) return
      // The path is written with a capital letter.
      errors.invalid(
        'status.Phase',
        given,
        `may only be '${phase}' if \`deletionTimestamp\` ${when}`,
      )
    },
  },
  subresources: {
    finalize: {
      validateUpdate(object, _stored, errors) {
        for (const [index, finalizer] of (object.spec?.finalizers ?? []).entries())
          validateFinalizer(finalizer, errors, `spec.finalizers[${index}]`)
      },
    },
  },
  selectableFields: {
    'status.phase': (object) => object.status?.phase ?? '',
  },
  columns: tableColumns('namespaces', { Status: (object) => object.status?.phase ?? '' }),
}
