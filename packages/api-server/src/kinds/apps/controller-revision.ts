import type { KindRules } from '../../registry/kind-rules.ts'
import { validateNonNegative } from '../../schema/validation/numbers.ts'
import { tableColumns } from '../columns.ts'
import { sameJson } from '../workload-template.ts'

export const controllerRevision: KindRules = {
  group: 'apps',
  kind: 'ControllerRevision',
  generationOf: null,
  validate(object, errors) {
    if (object.data === undefined || object.data === null)
      errors.required('data', 'data is mandatory')
    validateNonNegative(object.revision, errors, 'revision')
  },
  updateOrder: 'update-only',
  validateUpdate(object, stored, errors) {
    if (!sameJson(object.data ?? null, stored.data ?? null))
      errors.invalid('data', object.data ?? null, 'field is immutable')
  },
  columns: tableColumns('apps/controllerrevisions', {
    Controller: (object) => {
      const owner = (object.metadata?.ownerReferences ?? []).find(
        (reference: { controller?: boolean }) => reference.controller === true,
      )
      if (!owner) return '<none>'
      const group = String(owner.apiVersion ?? '').includes('/')
        ? `.${owner.apiVersion.split('/')[0]}`
        : ''
      return `${String(owner.kind).toLowerCase()}${group}/${owner.name}`
    },
    Revision: (object) => object.revision ?? 0,
  }),
}
