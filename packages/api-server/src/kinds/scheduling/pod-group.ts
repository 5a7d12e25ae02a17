import type { PodGroup, PodGroupResourceClaimStatus } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain } from '@gyropilot/schema/validation/names'
import { semanticallyEqual } from '../../registry/equality.ts'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { tableColumns } from '../columns.ts'
import { validateConditions } from '../conditions.ts'
import { inBytes } from '../names-in-bytes.ts'
import {
  CLAIMS_MAX,
  refuseRepeatedNames,
  validateGroupFields,
  validateName,
  validateOneOf,
} from './group-fields.ts'

const MODE_GATE = 'WorkloadAwarePreemption'
const FIXED = [
  'podGroupTemplateRef',
  'schedulingPolicy',
  'schedulingConstraints',
  'resourceClaims',
  'disruptionMode',
  'priorityClassName',
  'priority',
] as const

/** Served with gate GenericWorkload. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "PodGroup and Workload". */
export const podGroup: KindRules<PodGroup> = {
  group: 'scheduling.k8s.io',
  kind: 'PodGroup',
  generationOf: null,
  defaults({ spec }) {
    if (spec) spec.disruptionMode ??= 'Pod'
  },
  validate({ spec = {} }, errors) {
    if (spec.podGroupTemplateRef) validateTemplateRef(spec.podGroupTemplateRef, errors)
    validateGroupFields(spec, errors, 'spec')
  },
  updateOrder: 'update-only',
  validateUpdate({ spec }, stored, errors, { featureEnabled }) {
    for (const field of FIXED) {
      if (semanticallyEqual(spec?.[field], stored.spec?.[field])) continue
      if (field === 'disruptionMode' && !featureEnabled(MODE_GATE))
        errors.forbidden(`spec.${field}`)
      else errors.invalid(`spec.${field}`, null, 'field is immutable')
    }
  },
  // Without its gate it is dropped from what is written, and read with its default.
  canonicalize({ spec }) {
    if (spec) spec.disruptionMode ??= 'Pod'
  },
  status: {
    validateUpdate({ spec, status }, _stored, errors) {
      validateConditions(status?.conditions, errors, 'status.conditions')
      const names = (spec?.resourceClaims ?? []).map(({ name }) => name)
      validateClaimStatuses(status?.resourceClaimStatuses ?? [], new Set(names), errors)
    },
  },
  columns: tableColumns<PodGroup>('scheduling.k8s.io/podgroups', {
    Policy: ({ spec }) => (spec?.schedulingPolicy?.gang ? 'Gang' : 'Basic'),
    Workload: ({ spec }) => spec?.podGroupTemplateRef?.workload?.workloadName ?? '<none>',
    Status: ({ status }) => phaseOf(status?.conditions),
  }),
}

function validateTemplateRef(
  ref: StoredOf<NonNullable<PodGroup['spec']['podGroupTemplateRef']>>,
  errors: FieldErrors,
): void {
  const at = 'spec.podGroupTemplateRef'
  validateOneOf(ref, ['workload'], errors, at)
  if (!ref.workload) return
  const { workloadName, podGroupTemplateName } = ref.workload
  if (!workloadName) errors.required(`${at}.workload.workloadName`)
  else
    invalidAll(
      errors,
      `${at}.workload.workloadName`,
      workloadName,
      inBytes(dnsSubdomain(workloadName)),
    )
  validateName(podGroupTemplateName, errors, `${at}.workload.podGroupTemplateName`)
}

function validateClaimStatuses(
  statuses: readonly StoredOf<PodGroupResourceClaimStatus>[],
  names: ReadonlySet<string | undefined>,
  errors: FieldErrors,
): void {
  const field = 'status.resourceClaimStatuses'
  for (const [index, { name = '' }] of statuses.entries())
    if (!names.has(name))
      errors.invalid(
        `${field}[${index}].name`,
        name,
        'must match the name of an entry in `spec.resourceClaims`',
      )
  if (statuses.length > CLAIMS_MAX) {
    errors.tooMany(field, statuses.length, CLAIMS_MAX)
    return
  }
  refuseRepeatedNames(statuses, errors, field)
  for (const [index, { resourceClaimName }] of statuses.entries())
    if (resourceClaimName !== undefined)
      invalidAll(
        errors,
        `${field}[${index}].resourceClaimName`,
        resourceClaimName,
        dnsSubdomain(resourceClaimName),
      )
}

function phaseOf(conditions: StoredOf<NonNullable<PodGroup['status']>>['conditions']): string {
  const find = (wanted: string) => conditions?.find(({ type }) => type === wanted)
  const disrupted = find('DisruptionTarget')
  if (disrupted !== undefined) return disrupted.reason ?? ''
  const scheduled = find('PodGroupScheduled')
  if (scheduled === undefined) return 'Pending'
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable'
}
