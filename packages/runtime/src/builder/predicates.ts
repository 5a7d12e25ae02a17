/** Contract: docs/behaviour/runtime/custom-controllers.md, Predicates. They decide what is queued, never what is cached. */
import type { KubernetesObject, LabelSelector } from '@gyropilot/api'
import { deepEqual, labelQueryOf, parseLabelQuery } from '@gyropilot/api'

/** A missing function passes everything. */
export interface Predicate<T extends KubernetesObject = KubernetesObject> {
  create?(object: T): boolean
  update?(previous: T, current: T): boolean
  delete?(object: T): boolean
  generic?(object: T): boolean
}

/** Drops resyncs. */
export const resourceVersionChanged: Predicate = {
  update: (previous, current) =>
    previous.metadata?.resourceVersion !== current.metadata?.resourceVersion,
}

/**
 * Drops updates of status and metadata, and resyncs. Not for kinds without a generation (ConfigMap, Secret, and custom
 * resources without status subresource count otherwise): none of their updates pass.
 */
export const generationChanged: Predicate = {
  update: (previous, current) => previous.metadata?.generation !== current.metadata?.generation,
}

/** Passes updates that change metadata.labels, and everything else. */
export const labelsChanged: Predicate = {
  update: (previous, current) =>
    !deepEqual(previous.metadata?.labels ?? {}, current.metadata?.labels ?? {}),
}

/** Passes updates that change metadata.annotations, and everything else. */
export const annotationsChanged: Predicate = {
  update: (previous, current) =>
    !deepEqual(previous.metadata?.annotations ?? {}, current.metadata?.annotations ?? {}),
}

/** Objects, in their new state, that the selector matches. Throws InvalidSelectorError. */
export function matchingLabels(selector: string | LabelSelector): Predicate {
  const query = typeof selector === 'string' ? parseLabelQuery(selector) : labelQueryOf(selector)
  return where((object) => query.matches(object.metadata?.labels))
}

/** One condition for every event, on the new state. */
export function where<T extends KubernetesObject>(passes: (object: T) => boolean): Predicate<T> {
  return {
    create: passes,
    update: (_, current) => passes(current),
    delete: passes,
    generic: passes,
  }
}

/** Passes what all pass; without any, everything. */
export function and<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return combined((asked) => predicates.every(asked))
}

/** Passes what at least one passes. */
export function or<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return combined((asked) => predicates.some(asked))
}

/** Passes what the other one drops. */
export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return combined((asked) => !asked(predicate))
}

function combined<T extends KubernetesObject>(
  decide: (asked: (predicate: Predicate<T>) => boolean) => boolean,
): Predicate<T> {
  return {
    create: (object) => decide((predicate) => predicate.create?.(object) ?? true),
    update: (previous, current) =>
      decide((predicate) => predicate.update?.(previous, current) ?? true),
    delete: (object) => decide((predicate) => predicate.delete?.(object) ?? true),
    generic: (object) => decide((predicate) => predicate.generic?.(object) ?? true),
  }
}
