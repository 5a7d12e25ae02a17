import type { ControllerRevision } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { tableColumns } from '../columns.ts'

export const controllerRevision: KindRules<ControllerRevision> = {
  group: 'apps',
  kind: 'ControllerRevision',
  generationOf: null,
  validate(object, errors) {
    validateNonNegative(object.revision, errors, 'revision')
    if (object.data === undefined || object.data === null)
      errors.required('data', 'data is mandatory')
    else if (typeof object.data !== 'object' || Array.isArray(object.data))
      errors.required('data', 'data must be a valid JSON object')
  },
  updateOrder: 'update-only',
  validateUpdate(object, stored, errors) {
    validateNonNegative(object.revision, errors, 'revision')
    if (!deepEqual(object.data ?? null, stored.data ?? null))
      errors.invalid('data', object.data ?? null, 'field is immutable')
  },
  columns: tableColumns('apps/controllerrevisions', {
    Controller: (object) => {
      const owner = (object.metadata?.ownerReferences ?? []).find(
        (reference: { controller?: boolean }) => reference.controller === true,
      )
      if (!owner) return '<none>'
      const group = String(owner.apiVersion ?? '').includes('/')
        ? `.${owner.apiVersion!.split('/')[0]}`
        : ''
      return `${String(owner.kind).toLowerCase()}${group}/${owner.name}`
    },
    Revision: (object) => object.revision ?? 0,
  }),
}
