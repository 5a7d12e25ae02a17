/** The part that ReplicaSet, Deployment, StatefulSet, DaemonSet and ReplicationController have in common: selector and template. */
import type { LabelSelector, ObjectMeta, PodTemplateSpec, ReplicaSetSpec } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { DraftOf, Stored, StoredOf } from '../registry/kind-rules.ts'
import { givenValue } from '@gyropilot/schema/decode'
import { selectorForm } from '@gyropilot/schema/internal-form'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import {
  isConvertibleSelector,
  isEmptySelector,
  selectorMatches,
  validateLabelSelector,
} from '@gyropilot/schema/validation/labels'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { validateTemplate } from './core/pod/spec.ts'

interface Selecting {
  readonly selector?: LabelSelector
}

interface Colliding {
  readonly collisionCount?: number
}

/** What has a template of pods, in this place. */
interface Templated {
  readonly metadata?: ObjectMeta
  readonly spec?: { readonly template?: PodTemplateSpec }
}

/** `noun`: the word in `empty selector is invalid for deployment`. */
export function validateSelectorAndTemplate(
  spec: StoredOf<ReplicaSetSpec>,
  noun: string,
  errors: FieldErrors,
  field = 'spec',
): void {
  const selector = spec.selector
  if (!selector) errors.required(`${field}.selector`)
  else {
    validateLabelSelector(selector, errors, `${field}.selector`)
    if (isEmptySelector(selector))
      errors.invalid(
        `${field}.selector`,
        printedSelector(selector),
        `empty selector is invalid for ${noun}`,
      )
  }
  if (selector && !isConvertibleSelector(selector)) {
    errors.invalid(`${field}.selector`, printedSelector(selector), 'invalid label selector')
    return
  }
  const template = spec.template ?? {}
  const matches =
    selector !== undefined &&
    (isEmptySelector(selector) || selectorMatches(selector, template.metadata?.labels))
  validateMatchingTemplate(template, matches, errors, `${field}.template`)
}

export function validateMatchingTemplate(
  template: StoredOf<PodTemplateSpec>,
  matches: boolean,
  errors: FieldErrors,
  field: string,
  owner = 'ReplicaSet',
): void {
  if (!matches) {
    errors.invalid(
      `${field}.metadata.labels`,
      givenValue(template.metadata, 'labels'),
      '`selector` does not match template `labels`',
    )
  }
  validateTemplate(template, errors, field)
  const policy = template.spec?.restartPolicy
  if (policy !== 'Always')
    errors.notSupported(`${field}.spec.restartPolicy`, policy ?? '', ['Always'])
  if (template.spec?.activeDeadlineSeconds !== undefined) {
    errors.forbidden(
      `${field}.spec.activeDeadlineSeconds`,
      `activeDeadlineSeconds in ${owner} is not Supported`,
    )
  }
}

/** `{}`, whatever empty parts it was sent with. */
/** Fields in the order of Go's structs, labels by name. */
export function printedSelector(selector: StoredOf<LabelSelector>): Stored {
  return isEmptySelector(selector) ? {} : (selectorForm(selector) as Stored)
}

/** Selectors are chosen once. Nil is printed as null. */
export function validateSelectorUnchanged(
  object: { readonly spec?: StoredOf<Selecting> },
  stored: { readonly spec?: StoredOf<Selecting> },
  errors: FieldErrors,
): void {
  const now = object.spec?.selector
  if (!deepEqual(now, stored.spec?.selector))
    errors.invalid('spec.selector', now ? printedSelector(now) : null, 'field is immutable')
}

/** Status counters of workloads. */
export function validateReplicaCounters<T extends object>(
  status: T,
  names: readonly (string & keyof T)[],
  errors: FieldErrors,
): void {
  for (const name of names)
    validateNonNegative(status[name] as number | undefined, errors, `status.${name}`)
}

/** Status of ReplicaSets and ReplicationControllers: no part is more than the whole. `more`: counters of one kind only. */
export function validateReplicaStatus(
  status: Stored,
  more: readonly string[],
  errors: FieldErrors,
): void {
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']
  validateReplicaCounters(status, ['replicas', ...parts, 'observedGeneration', ...more], errors)
  const pairs: [string, string, string][] = [
    ...parts.map((part): [string, string, string] => [part, 'replicas', 'status.replicas']),
    ['availableReplicas', 'readyReplicas', 'readyReplicas'],
  ]
  for (const [part, whole, text] of pairs) {
    if ((status[part] ?? 0) > (status[whole] ?? 0))
      errors.invalid(`status.${part}`, status[part] ?? 0, `cannot be greater than ${text}`)
  }
}

/** How often a controller met a name that was taken: it only grows, and a missing one is printed as 0. */
export function validateCollisionCount(
  status: Colliding,
  stored: { readonly status?: Colliding },
  errors: FieldErrors,
): void {
  const before: number | undefined = stored.status?.collisionCount
  if (before !== undefined && (status.collisionCount ?? -1) < before)
    errors.invalid('status.collisionCount', status.collisionCount ?? 0, 'cannot be decremented')
}

/** Labels that were made here. */
const takenFromTemplate = new WeakSet<object>()

/** ReplicationControllers and Jobs take their labels from the template when they have none. */
export function labelsFromTemplate(object: DraftOf<Templated>): void {
  const labels = object.spec?.template?.metadata?.labels
  if (labels && Object.keys(object.metadata?.labels ?? {}).length === 0) {
    object.metadata ??= {}
    object.metadata.labels = { ...labels }
    takenFromTemplate.add(object.metadata.labels)
  }
}

/** Whether the labels of the object were its template's, and not its own, however equal. */
export function hasLabelsOfTemplate(object: StoredOf<Templated>): boolean {
  const labels = object.metadata?.labels
  return labels !== undefined && takenFromTemplate.has(labels)
}

/** For lists that are always written: the store does not tell an empty one from none. */
export function nullWhenEmpty<T extends object>(holder: T, field: keyof T): void {
  const list: unknown = holder[field]
  if (Array.isArray(list) && list.length === 0) holder[field] = null as T[keyof T]
}
