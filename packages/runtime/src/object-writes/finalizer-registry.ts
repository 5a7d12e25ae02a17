/** Contract: docs/behaviour/runtime/custom-controllers.md, Helpers. */
import type { KubernetesObject } from '@gyropilot/api'
import {
  deepEqual,
  hasFinalizer,
  isTerminating,
  withFinalizer,
  withoutFinalizer,
} from '@gyropilot/api'
import { aggregateErrors, errorText } from '@gyropilot/foundation'
import { controllerErrors } from '../builder/errors.ts'
import { draftOf } from './draft.ts'
import type { Draft } from './draft.ts'

/**
 * Cleans up what exists outside the cluster. May edit the draft, for instance to report in its status; the edits count also
 * when it fails. Must be idempotent: it is called until it succeeds.
 */
export type Finalize<T extends KubernetesObject> = (draft: Draft<T>) => void | Promise<void>

/** What the finalizers made of the object; nothing has been written yet. */
export interface Finalized<T> {
  readonly object: T
  /** Something besides the status changed: write the object. */
  readonly updated: boolean
  /**
   * The status changed: write it through its subresource, before the object, which may be gone after that. The object is then
   * written with the resourceVersion that was answered.
   */
  readonly statusUpdated: boolean
  /** Return or throw it after writing, so that the key is retried. */
  readonly error?: Error
}

/**
 * Finalizers by name. On a live object those that are missing are added; on one that is being deleted the functions of
 * those present run, in the order of registration, and each is taken off when its function succeeded. Writes nothing.
 */
export class FinalizerRegistry<T extends KubernetesObject> {
  readonly #finalizers = new Map<string, Finalize<T>>()

  /** `name` has the form `domain/name`. Throws FINALIZER_REGISTERED for a second one of a name. */
  register(name: string, finalize: Finalize<T>): this {
    if (this.#finalizers.has(name)) {
      throw controllerErrors.make(
        'FINALIZER_REGISTERED',
        `finalizer for key ${JSON.stringify(name)} already registered`,
      )
    }
    this.#finalizers.set(name, finalize)
    return this
  }

  async finalize(object: T): Promise<Finalized<T>> {
    let current = object
    const errors: Error[] = []
    for (const [name, finalize] of this.#finalizers) {
      if (!isTerminating(current)) {
        current = withFinalizer(current, name)
        continue
      }
      if (!hasFinalizer(current, name)) continue
      const draft = draftOf(current)
      try {
        await finalize(draft)
        current = withoutFinalizer(draft as T, name)
      } catch (error) {
        current = draft as T
        errors.push(
          new Error(`finalizer ${JSON.stringify(name)} failed: ${errorText(error)}`, {
            cause: error,
          }),
        )
      }
    }
    const [before, statusBefore] = apart(object)
    const [after, statusAfter] = apart(current)
    return {
      object: current,
      updated: !deepEqual(before, after),
      statusUpdated: !deepEqual(statusBefore, statusAfter),
      ...(errors.length === 0 ? {} : { error: aggregateErrors(errors) }),
    }
  }
}

function apart(object: KubernetesObject): [object, unknown] {
  const { status, ...rest } = object as KubernetesObject & { status?: unknown }
  return [rest, status]
}
