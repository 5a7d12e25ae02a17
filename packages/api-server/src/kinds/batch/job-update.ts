import type { Affinity, Job, JobSpec, PodSpec, PodTemplateSpec } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { DraftOf, Stored, StoredOf } from '../../registry/kind-rules.ts'
import { keep } from '../../registry/kept-field.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm, metadataForm } from '@gyropilot/schema/internal-form'
import { validateSelectorUnchanged } from '../workload-template.ts'
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
  validateSelectorUnchanged(object, stored, errors)
  validateTemplateUpdate(stored, spec, before, errors)
  unchanged(spec, before, 'completionMode', errors)
  unchanged(spec, before, 'podFailurePolicy', errors, 'PodFailurePolicy')
  unchanged(spec, before, 'backoffLimitPerIndex', errors)
  unchanged(spec, before, 'managedBy', errors)
  unchanged(spec, before, 'successPolicy', errors, 'SuccessPolicy')
}

/** `type`: the internal type in whose form the value is printed. */
function unchanged(
  spec: StoredOf<JobSpec>,
  before: StoredOf<JobSpec>,
  field: keyof JobSpec,
  errors: FieldErrors,
  type?: string,
): void {
  const value = spec[field] ?? null
  if (deepEqual(value, before[field] ?? null)) return
  const printed = type === undefined || value === null ? value : internalForm(value as Stored, type)
  errors.invalid(`spec.${field}`, printed, IMMUTABLE)
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

/** A job that is suspended, runs no pod, and has never started or has stopped, may be scheduled otherwise. */
function mayReschedule(stored: StoredOf<Job>): boolean {
  if (stored.spec?.suspend !== true || (stored.status?.active ?? 0) > 0) return false
  if (!stored.status?.startTime) return true
  return (stored.status.conditions ?? []).some(
    (condition) => condition.type === 'Suspended' && condition.status === 'True',
  )
}

const DIRECTIVES = ['nodeSelector', 'tolerations', 'schedulingGates'] as const

/** What the affinity may have become: that to nodes is free, and with nothing beside it the whole may come and go. */
function freedAffinity(
  now: StoredOf<Affinity> | undefined,
  before: StoredOf<Affinity> | undefined,
): DraftOf<Affinity> | undefined {
  const { nodeAffinity: _before, ...fixed } = before ?? {}
  if (now === undefined) return Object.keys(fixed).length === 0 ? undefined : fixed
  return now.nodeAffinity === undefined ? fixed : { ...fixed, nodeAffinity: now.nodeAffinity }
}

function validateTemplateUpdate(
  stored: StoredOf<Job>,
  spec: StoredOf<JobSpec>,
  before: StoredOf<JobSpec>,
  errors: FieldErrors,
): void {
  const template = spec.template ?? {}
  const old = before.template ?? {}
  if (!mayReschedule(stored)) {
    if (!deepEqual(template, old))
      errors.invalid('spec.template', templateForm(template), IMMUTABLE)
    return
  }
  const pod = template.spec ?? {}
  const expected: DraftOf<PodSpec> = structuredClone(old.spec ?? {})
  for (const field of DIRECTIVES) keep(expected, pod, field)
  keep(expected, { affinity: freedAffinity(pod.affinity, expected.affinity) }, 'affinity')
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (expected[list] ?? []).entries()) {
      const given = pod[list]?.[index]
      if (given?.name === container.name) keep(container, given!, 'resources')
    }
  }
  if (!deepEqual(pod, expected))
    errors.invalid('spec.template.spec', internalForm(pod, 'PodSpec'), IMMUTABLE)
}

/** Metadata is embedded in the internal type, so its fields stand beside Spec. */
function templateForm(template: StoredOf<PodTemplateSpec>): Stored {
  return { ...metadataForm(template.metadata), ...internalForm(template, 'PodTemplateSpec') }
}
