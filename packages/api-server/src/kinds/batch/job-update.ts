import { deepEqual } from '@gyropilot/api'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm, sortedMap } from '@gyropilot/schema/internal-form'
import { validateSpecAndSelector } from './job-spec.ts'

const IMMUTABLE = 'field is immutable'

export function validateJobUpdate(object: Stored, stored: Stored, errors: FieldErrors): void {
  const spec: Stored = object.spec ?? {}
  const before: Stored = stored.spec ?? {}
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
  ])
    unchanged(spec, before, field, errors)
}

function unchanged(spec: Stored, before: Stored, field: string, errors: FieldErrors): void {
  if (!deepEqual(spec[field] ?? null, before[field] ?? null))
    errors.invalid(`spec.${field}`, spec[field] ?? null, IMMUTABLE)
}

/** An elastic indexed job changes completions together with parallelism. */
function validateCompletions(spec: Stored, before: Stored, errors: FieldErrors): void {
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
function mayReschedule(stored: Stored): boolean {
  if (stored.spec?.suspend !== true) return false
  if (!stored.status?.startTime) return true
  return (stored.status.conditions ?? []).some(
    (condition: Stored) => condition.type === 'Suspended' && condition.status === 'True',
  )
}

const DIRECTIVES = ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates']

function validateTemplateUpdate(
  stored: Stored,
  spec: Stored,
  before: Stored,
  errors: FieldErrors,
): void {
  const template: Draft = structuredClone(spec.template ?? {})
  const old: Stored = before.template ?? {}
  if (mayReschedule(stored)) {
    template.metadata = { ...template.metadata }
    for (const field of ['labels', 'annotations'])
      keep(template.metadata, old.metadata ?? {}, field)
    for (const field of DIRECTIVES) keep((template.spec ??= {}), old.spec ?? {}, field)
    for (const list of ['containers', 'initContainers']) {
      for (const [index, container] of (template.spec[list] ?? []).entries()) {
        const previous: Stored | undefined = old.spec?.[list]?.[index]
        if (previous?.name === container.name) keep(container, previous!, 'resources')
      }
    }
  }
  if (deepEqual(template, old)) return
  errors.invalid('spec.template', templateForm(template), IMMUTABLE)
}

function keep(draft: Draft, before: Stored, field: string): void {
  if (before[field] === undefined) delete draft[field]
  else draft[field] = before[field]
}

/** Metadata is embedded in the internal type, so its fields stand beside Spec. */
export function templateForm(template: Stored): Stored {
  const form: Draft = {}
  for (const [field, value] of Object.entries(template.metadata ?? {}))
    form[field] = sortedMap(value)
  return { ...form, ...internalForm(template, 'PodTemplateSpec') }
}
