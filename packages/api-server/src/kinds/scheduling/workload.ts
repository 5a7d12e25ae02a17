import type { TypedLocalObjectReference, Workload, WorkloadSpec } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain, pathSegment } from '@gyropilot/schema/validation/names'
import { semanticallyEqual } from '../../registry/equality.ts'
import type { Draft, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { ageColumn, nameColumn } from '../columns.ts'
import { inBytes } from '../names-in-bytes.ts'
import { refuseRepeatedNames, validateGroupFields, validateName } from './group-fields.ts'

const TEMPLATES_MAX = 8
const FIXED = ['controllerRef', 'podGroupTemplates'] as const

/** Served with gate GenericWorkload. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "PodGroup and Workload". */
export const workload: KindRules<Workload> = {
  group: 'scheduling.k8s.io',
  kind: 'Workload',
  generationOf: null,
  validate({ spec }, errors) {
    if (spec?.controllerRef) validateController(spec.controllerRef, errors)
    validateTemplates(spec?.podGroupTemplates ?? [], errors)
  },
  // Also what was dropped without its gate.
  canonicalize({ spec }) {
    for (const template of (spec?.podGroupTemplates ?? []) as Draft[])
      template['schedulingConstraints'] ??= null
  },
  updateOrder: 'update-only',
  validateUpdate({ spec }, stored, errors) {
    for (const field of FIXED)
      if (!semanticallyEqual(spec?.[field], stored.spec?.[field]))
        errors.invalid(`spec.${field}`, null, 'field is immutable')
    if (!spec?.podGroupTemplates?.length) errors.required('spec.podGroupTemplates')
  },
  columns: [nameColumn, ageColumn],
}

function validateController(
  { apiGroup = '', kind, name }: StoredOf<TypedLocalObjectReference>,
  errors: FieldErrors,
): void {
  const at = 'spec.controllerRef'
  if (apiGroup !== '')
    invalidAll(errors, `${at}.apiGroup`, apiGroup, inBytes(dnsSubdomain(apiGroup)))
  for (const [field, value = ''] of [
    ['kind', kind],
    ['name', name],
  ] as const)
    if (value === '') errors.required(`${at}.${field}`)
    else invalidAll(errors, `${at}.${field}`, value, pathSegment(value))
}

function validateTemplates(
  templates: StoredOf<WorkloadSpec>['podGroupTemplates'] & object,
  errors: FieldErrors,
): void {
  const field = 'spec.podGroupTemplates'
  if (templates.length === 0) errors.required(field)
  if (templates.length > TEMPLATES_MAX) {
    errors.tooMany(field, templates.length, TEMPLATES_MAX)
    return
  }
  refuseRepeatedNames(templates, errors, field)
  for (const [index, template] of templates.entries()) {
    validateName(template.name, errors, `${field}[${index}].name`)
    validateGroupFields(template, errors, `${field}[${index}]`)
  }
}
