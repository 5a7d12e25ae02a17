/** What may change in a pod. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Pod update". */
import type { NodeSelectorTerm, Pod, PodSpec, Toleration } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { DraftOf, StoredOf } from '../../../registry/kind-rules.ts'
import { keep } from '../../../registry/kept-field.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { copyGiven, givenValue } from '@gyropilot/schema/given-value'
import { internalDiff, internalForm, storedForm } from '@gyropilot/schema/internal-form'
import { validateRange } from '@gyropilot/schema/validation/numbers'
import { isMirrorPod, validateAnnotationsUpdate } from './annotations.ts'
import { validateTrimmedImage } from './containers.ts'
import { validateTolerations } from './scheduling.ts'
import { validatePod } from './spec.ts'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const MUTABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

export function validatePodUpdate(
  object: StoredOf<Pod>,
  stored: StoredOf<Pod>,
  errors: FieldErrors,
): void {
  const spec = object.spec ?? {}
  const before = stored.spec ?? {}
  validateAnnotationsUpdate(object, stored, errors)
  for (const list of ['containers', 'initContainers'] as const) {
    const now = spec[list] ?? []
    if (now.length !== (before[list] ?? []).length) {
      errors.forbidden(`spec.${list}`, 'pod updates may not add or remove containers')
      return
    }
    for (const [index, container] of now.entries()) {
      if (!container.image) errors.required(`spec.${list}[${index}].image`)
      validateTrimmedImage(container, errors, `spec.${list}[${index}]`)
    }
  }
  if (!validateDeadline(spec.activeDeadlineSeconds, before.activeDeadlineSeconds, errors)) return
  validateAddedTolerations(spec.tolerations, before.tolerations, errors)
  validateGates(spec, before, errors)
  if (deepEqual(spec, before)) return
  const mended = withoutAllowedChanges(spec, before, errors)
  if (deepEqual(mended, before)) return
  const diff = internalDiff(storedForm(before, 'PodSpec'), internalForm(mended, 'PodSpec'))
  errors.forbidden('spec', `${MUTABLE}\n${diff}`)
}

/** From none to some, and from some to less. False: nothing else is looked at. */
function validateDeadline(
  now: number | undefined,
  before: number | undefined,
  errors: FieldErrors,
): boolean {
  const field = 'spec.activeDeadlineSeconds'
  if (now === undefined) {
    if (before !== undefined)
      errors.invalid(field, null, 'must not update from a positive integer to nil value')
    return true
  }
  const known = errors.list.length
  validateRange(now, 0, 2 ** 31 - 1, errors, field)
  if (errors.list.length > known) return false
  if (before === undefined || now <= before) return true
  errors.invalid(field, now, 'must be less than or equal to previous value')
  return false
}

/** Gates may only be taken away. */
function validateGates(
  spec: StoredOf<PodSpec>,
  before: StoredOf<PodSpec>,
  errors: FieldErrors,
): void {
  const known = new Set((before.schedulingGates ?? []).map(({ name }) => name))
  // Of gates of one name the last is told of.
  const places = new Map((spec.schedulingGates ?? []).map(({ name }, index) => [name, index]))
  for (const [name, index] of places) {
    if (!known.has(name)) {
      errors.forbidden(
        `spec.schedulingGates[${index}].name`,
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      )
    }
  }
}

/** The new spec with every change that is allowed, or reported already, taken back. */
function withoutAllowedChanges(
  spec: StoredOf<PodSpec>,
  before: StoredOf<PodSpec>,
  errors: FieldErrors,
): DraftOf<PodSpec> {
  const mended: DraftOf<PodSpec> = copyGiven(spec)
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (mended[list] ?? []).entries())
      keep(container, before[list]?.[index] ?? {}, 'image')
  }
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'] as const)
    keep(mended, before, field)
  const { terminationGracePeriodSeconds: grace = 0 } = before
  if (grace < 0 && mended.terminationGracePeriodSeconds === 1) {
    mended.terminationGracePeriodSeconds = grace
  }
  if ((before.schedulingGates ?? []).length === 0) return mended
  if (!deepEqual(mended.nodeSelector ?? {}, before.nodeSelector ?? {})) {
    const added = Object.keys(before.nodeSelector ?? {}).every(
      (key) => mended.nodeSelector?.[key] === before.nodeSelector?.[key],
    )
    if (!added) {
      errors.invalid(
        'spec.nodeSelector',
        givenValue(mended, 'nodeSelector'),
        'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      )
    }
    keep(mended, before, 'nodeSelector')
  }
  mendNodeAffinity(mended, before, errors)
  return mended
}

/** Only durations change in what is there. The new list is checked a second time. */
function validateAddedTolerations(
  now: readonly StoredOf<Toleration>[] | undefined,
  before: readonly StoredOf<Toleration>[] | undefined,
  errors: FieldErrors,
): void {
  if (deepEqual(now, before) || hasAll(now ?? [], before ?? []))
    validateTolerations(now, errors, 'spec.tolerations')
  else
    errors.forbidden(
      'spec.tolerations',
      'existing toleration can not be modified except its tolerationSeconds',
    )
}

/** The durations aside. */
function hasAll(
  now: readonly StoredOf<Toleration>[],
  before: readonly StoredOf<Toleration>[],
): boolean {
  const bare = ({ tolerationSeconds: _seconds, ...rest }: StoredOf<Toleration>): object => rest
  const given = now.map(bare)
  return before.every((toleration) => given.some((one) => deepEqual(one, bare(toleration))))
}

function mendNodeAffinity(
  mended: DraftOf<PodSpec>,
  before: StoredOf<PodSpec>,
  errors: FieldErrors,
): void {
  const now = mended.affinity?.nodeAffinity
  const old = before.affinity?.nodeAffinity
  if (deepEqual(now ?? null, old ?? null)) return
  validateNodeTerms(now?.[REQUIRED]?.nodeSelectorTerms, old?.[REQUIRED]?.nodeSelectorTerms, errors)
  mended.affinity = { ...mended.affinity }
  if (old === undefined) delete mended.affinity.nodeAffinity
  else mended.affinity.nodeAffinity = old
  if (before.affinity === undefined && Object.keys(mended.affinity).length === 0)
    delete mended.affinity
}

/** Where there are terms, each may only demand more; one without demands matches nothing, and stays so. */
function validateNodeTerms(
  now: readonly StoredOf<NodeSelectorTerm>[] | undefined,
  before: readonly StoredOf<NodeSelectorTerm>[] | undefined,
  errors: FieldErrors,
): void {
  if (!before || before.length === 0) return
  const field = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`
  const printed = (now ?? []).map((term) => internalForm(term, 'NodeSelectorTerm'))
  if (printed.length !== before.length) {
    errors.invalid(
      field,
      now === undefined ? null : printed,
      'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
    )
    return
  }
  for (const [index, term] of (now ?? []).entries()) {
    if (hasOnlyAdditions(term, before[index]!)) continue
    errors.invalid(
      `${field}[${index}]`,
      printed[index],
      'only additions are allowed (no mutations or deletions)',
    )
  }
}

function hasOnlyAdditions(
  term: StoredOf<NodeSelectorTerm>,
  before: StoredOf<NodeSelectorTerm>,
): boolean {
  const demands = (of: StoredOf<NodeSelectorTerm>) => [
    of.matchExpressions ?? [],
    of.matchFields ?? [],
  ]
  const [now, old] = [demands(term), demands(before)]
  if (old.flat().length === 0) return now.flat().length === 0
  return old.every((list, which) =>
    list.every((demand, index) => deepEqual(now[which]![index], demand)),
  )
}

export function validateEphemeralUpdate(
  object: StoredOf<Pod>,
  stored: StoredOf<Pod>,
  errors: FieldErrors,
): void {
  if (isMirrorPod(stored)) {
    errors.forbidden('[]', 'static pods do not support ephemeral containers')
    return
  }
  validatePod(object, errors)
  validateAnnotationsUpdate(object, stored, errors)
  const now = new Map(
    (object.spec?.ephemeralContainers ?? []).map(
      (container) => [container.name, container] as const,
    ),
  )
  for (const container of stored.spec?.ephemeralContainers ?? []) {
    const field = 'spec.ephemeralContainers'
    const name = JSON.stringify(container.name)
    const given = now.get(container.name)
    if (given === undefined)
      errors.forbidden(field, `existing ephemeral containers ${name} may not be removed\n`)
    else if (!deepEqual(given, container)) {
      const diff = internalDiff(
        storedForm(container, 'EphemeralContainer'),
        internalForm(given, 'EphemeralContainer'),
      )
      errors.forbidden(field, `existing ephemeral containers ${name} may not be changed\n${diff}`)
    }
  }
}
