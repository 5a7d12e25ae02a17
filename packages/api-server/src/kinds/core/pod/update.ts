/** What may change in a pod. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Pod update". */
import { deepEqual } from '@gyropilot/api'
import { cloneJson } from '../../../registry/equality.ts'
import type { Draft, Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '../../../schema/field-errors.ts'
import { internalDiff, internalForm } from '../../../schema/internal-form.ts'
import { sameJson } from '../../workload-template.ts'
import { validatePodSpec } from './spec.ts'

const MUTABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

export function validatePodUpdate(object: Stored, stored: Stored, errors: FieldErrors): void {
  const spec: Stored = object.spec ?? {}
  const before: Stored = stored.spec ?? {}
  for (const list of ['containers', 'initContainers']) {
    const now: readonly Stored[] = spec[list] ?? []
    if (now.length !== (before[list] ?? []).length) {
      errors.forbidden(`spec.${list}`, 'pod updates may not add or remove containers')
      return
    }
    for (const [index, container] of now.entries()) {
      const image: string = container.image ?? ''
      if (image === '') errors.required(`spec.${list}[${index}].image`)
    }
  }
  validateDeadline(spec.activeDeadlineSeconds, before.activeDeadlineSeconds, errors)
  validateGates(spec, before, errors)
  if (deepEqual(spec, before)) return
  const mended = withoutAllowedChanges(spec, before, errors)
  if (sameJson(mended, before)) return
  const diff = internalDiff(internalForm(before, 'PodSpec'), internalForm(mended, 'PodSpec'))
  errors.forbidden('spec', `${MUTABLE}\n${diff}`)
}

function validateDeadline(
  now: number | undefined,
  before: number | undefined,
  errors: FieldErrors,
): void {
  const field = 'spec.activeDeadlineSeconds'
  if (now !== undefined) {
    if (before !== undefined && now > before)
      errors.invalid(field, now, 'must be less than or equal to previous value')
  } else if (before !== undefined)
    errors.invalid(field, null, 'must not update from a positive integer to nil value')
}

/** Gates may only be taken away. */
function validateGates(spec: Stored, before: Stored, errors: FieldErrors): void {
  const known = new Set((before.schedulingGates ?? []).map(({ name }: Stored) => name))
  for (const [index, { name }] of (spec.schedulingGates ?? []).entries()) {
    if (!known.has(name)) {
      errors.forbidden(
        `spec.schedulingGates[${index}].name`,
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      )
    }
  }
}

/** The new spec with every change that is allowed taken back. */
function withoutAllowedChanges(spec: Stored, before: Stored, errors: FieldErrors): Draft {
  const mended: Draft = cloneJson(spec)
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of (mended[list] ?? []).entries())
      container.image = before[list][index].image
  }
  keep(mended, before, 'activeDeadlineSeconds')
  if (hasAllTolerations(mended.tolerations, before.tolerations)) keep(mended, before, 'tolerations')
  if (before.terminationGracePeriodSeconds < 0 && mended.terminationGracePeriodSeconds === 1) {
    mended.terminationGracePeriodSeconds = before.terminationGracePeriodSeconds
  }
  keep(mended, before, 'ephemeralContainers')
  if ((before.schedulingGates ?? []).length === 0) return mended
  keep(mended, before, 'schedulingGates')
  if (!sameJson(mended.nodeSelector ?? {}, before.nodeSelector ?? {})) {
    const added = Object.keys(before.nodeSelector ?? {}).every(
      (key) => mended.nodeSelector?.[key] === before.nodeSelector[key],
    )
    if (!added) {
      errors.invalid(
        'spec.nodeSelector',
        mended.nodeSelector ?? null,
        'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      )
    }
    keep(mended, before, 'nodeSelector')
  }
  mendNodeAffinity(mended, before, errors)
  return mended
}

function keep(mended: Draft, before: Stored, field: string): void {
  if (before[field] === undefined) delete mended[field]
  else mended[field] = before[field]
}

/** All old ones are there, the duration aside. */
function hasAllTolerations(
  now: readonly Stored[] | undefined,
  before: readonly Stored[] | undefined,
): boolean {
  const text = ({ tolerationSeconds: _seconds, ...rest }: Draft): string =>
    JSON.stringify(Object.entries(rest).toSorted())
  const given = new Set((now ?? []).map((toleration) => text(toleration as Draft)))
  return (before ?? []).every((toleration) => given.has(text(toleration as Draft)))
}

function mendNodeAffinity(mended: Draft, before: Stored, errors: FieldErrors): void {
  const now: Stored | undefined = mended.affinity?.nodeAffinity
  const old: Stored | undefined = before.affinity?.nodeAffinity
  if (sameJson(now ?? null, old ?? null)) return
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const field = `spec.affinity.nodeAffinity.${required}`
  const oldTerms: readonly Stored[] | undefined = old?.[required]?.nodeSelectorTerms
  if (oldTerms) {
    const terms: readonly Stored[] = now?.[required]?.nodeSelectorTerms ?? []
    if (terms.length !== oldTerms.length) {
      errors.invalid(
        `${field}.nodeSelectorTerms`,
        terms.length === 0 ? null : terms,
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      )
    } else {
      for (const [index, term] of terms.entries()) {
        for (const list of ['matchExpressions', 'matchFields']) {
          const kept: readonly Stored[] = oldTerms[index]![list] ?? []
          const given: readonly Stored[] = term[list] ?? []
          if (!kept.every((requirement, position) => sameJson(given[position], requirement))) {
            errors.invalid(
              `${field}.nodeSelectorTerms[${index}]`,
              term,
              'only additions are allowed (no mutations or deletions)',
            )
          }
        }
      }
    }
  }
  mended.affinity = { ...mended.affinity }
  if (old === undefined) delete mended.affinity.nodeAffinity
  else mended.affinity.nodeAffinity = old
  if (before.affinity === undefined && Object.keys(mended.affinity).length === 0)
    delete mended.affinity
}

export function validateEphemeralUpdate(object: Stored, stored: Stored, errors: FieldErrors): void {
  validatePodSpec(object.spec, errors, 'spec')
  const now = new Map<string, Stored>(
    (object.spec.ephemeralContainers ?? []).map((container: Stored) => [container.name, container]),
  )
  for (const container of stored.spec.ephemeralContainers ?? []) {
    const field = 'spec.ephemeralContainers'
    const name = JSON.stringify(container.name)
    const given = now.get(container.name)
    if (given === undefined)
      errors.forbidden(field, `existing ephemeral containers ${name} may not be removed\n`)
    else if (!sameJson(given, container)) {
      const diff = internalDiff(
        internalForm(container, 'EphemeralContainer'),
        internalForm(given, 'EphemeralContainer'),
      )
      errors.forbidden(field, `existing ephemeral containers ${name} may not be changed\n${diff}`)
    }
  }
}
