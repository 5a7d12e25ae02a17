import type { Job, JobSpec, PodTemplateSpec } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { Draft, DraftOf, Stored, StoredOf } from '../../registry/kind-rules.ts'
import { keep } from '../kept-field.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import { sortedMap } from '@gyropilot/schema/sorted-json'
import { validateSpecAndSelector } from './job-spec.ts'

const IMMUTABLE = 'field is immutable'

export function validateJobUpdate(
  object: StoredOf<Job>,
  stored: StoredOf<Job>,
  errors: FieldErrors,
): void {
  const spec = object.spec ?? {}
  const before = stored.spec ?? {}
  validateSpecAndSelector(spec, errors, 'spec')
  validateCompletions(spec, before, errors)
  unchanged(spec, before, 'selector', errors)
  validateTemplateUpdate(stored, spec, before, errors)
  for (const field of [
    'completionMode',
    'podFailurePolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'successPolicy',
  ] as const)
    unchanged(spec, before, field, errors)
}

function unchanged(
  spec: StoredOf<JobSpec>,
  before: StoredOf<JobSpec>,
  field: keyof JobSpec,
  errors: FieldErrors,
): void {
  if (!deepEqual(spec[field] ?? null, before[field] ?? null))
    errors.invalid(`spec.${field}`, spec[field] ?? null, IMMUTABLE)
}

/** An elastic indexed job changes completions together with parallelism. */
function validateCompletions(
  spec: StoredOf<JobSpec>,
  before: StoredOf<JobSpec>,
  errors: FieldErrors,
): void {
  const { completions } = spec
  if (completions === before.completions) return
  if (spec.completionMode !== 'Indexed')
    errors.invalid('spec.completions', completions ?? null, IMMUTABLE)
  else if (completions !== undefined && completions !== spec.parallelism)
    errors.invalid(
      'spec.completions',
      completions,
      'can only be modified in tandem with spec.parallelism',
    )
}

/** A job that is suspended and has never started, or has stopped, may be scheduled otherwise. */
function mayReschedule(stored: StoredOf<Job>): boolean {
  if (stored.spec?.suspend !== true) return false
  if (!stored.status?.startTime) return true
  return (stored.status.conditions ?? []).some(
    (condition) => condition.type === 'Suspended' && condition.status === 'True',
  )
}

const DIRECTIVES = ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates'] as const

function validateTemplateUpdate(
  stored: StoredOf<Job>,
  spec: StoredOf<JobSpec>,
  before: StoredOf<JobSpec>,
  errors: FieldErrors,
): void {
  const template: DraftOf<PodTemplateSpec> = structuredClone(spec.template ?? {})
  const old = before.template ?? {}
  if (mayReschedule(stored)) {
    template.metadata = { ...template.metadata }
    for (const field of ['labels', 'annotations'] as const)
      keep(template.metadata, old.metadata ?? {}, field)
    for (const field of DIRECTIVES) keep((template.spec ??= {}), old.spec ?? {}, field)
    for (const list of ['containers', 'initContainers'] as const) {
      for (const [index, container] of (template.spec?.[list] ?? []).entries()) {
        const previous = old.spec?.[list]?.[index]
        if (previous?.name === container.name) keep(container, previous!, 'resources')
      }
    }
  }
  if (deepEqual(template, old)) return
  errors.invalid('spec.template', templateForm(template), IMMUTABLE)
}

/** Metadata is embedded in the internal type, so its fields stand beside Spec. */
function templateForm(template: StoredOf<PodTemplateSpec>): Stored {
  const form: Draft = {}
  for (const [field, value] of Object.entries(template.metadata ?? {}))
    form[field] = sortedMap(value)
  return { ...form, ...internalForm(template, 'PodTemplateSpec') }
}
