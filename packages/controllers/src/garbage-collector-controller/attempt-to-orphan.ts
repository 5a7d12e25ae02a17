/** Sets dependents free from an owner. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Orphaning a node. */
import { isNotFound, isUnsupportedMediaType } from '@gyropilot/client'
import { writeAll } from '@gyropilot/runtime'
import type { Outcome, Reconcile, WriteOf } from '@gyropilot/runtime'
import type { KubernetesObject } from '@gyropilot/api'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import type { GraphNode } from './graph/graph-node.ts'
import type { ObjectIdentity } from './graph/identity.ts'
import { placeOf } from './live-metadata.ts'
import type { CollectorView } from './live-metadata.ts'
import { patchOf, patchOwnersByMerge, withoutOwners } from './owner-patches.ts'
import { lookForDependents } from './unseen-dependents.ts'
import type { LookView } from './unseen-dependents.ts'

type Orphaned =
  | { readonly next: 'remove-finalizer' }
  /** It is not yet certain that all dependents are known. */
  | { readonly next: 'later' }
  | { readonly next: 'retry'; readonly error: unknown }

/** Removes the owner from all its dependents: those in the graph, and those that a last look finds. */
export function* attemptToOrphan(owner: GraphNode, view: LookView): Reconcile<Orphaned> {
  const looked = yield* lookForDependents(owner, view)
  if (looked.next !== 'found') return looked
  const dependents = new Map<string, ObjectIdentity>()
  for (const { identity } of [...owner.dependents, ...looked.dependents]) {
    dependents.set(identity.uid, identity)
  }
  return yield* orphan([...dependents.values()], owner.identity, view)
}

/** Those that fail do not keep the others from being freed. */
function* orphan(
  dependents: readonly ObjectIdentity[],
  { uid }: ObjectIdentity,
  view: CollectorView,
): Reconcile<Orphaned> {
  const errors: unknown[] = []
  const placed: ObjectIdentity[] = []
  const writes: WriteOf<KubernetesObject>[] = []
  for (const dependent of dependents) {
    const place = placeOf(dependent, view, 'any')
    if (!place.ok) {
      errors.push(place.error)
      continue
    }
    placed.push(dependent)
    writes.push(patchOf(dependent, place.object, withoutOwners(dependent, [uid]).strategic))
  }
  const outcomes = writes.length === 0 ? [] : yield* writeAll(writes, 'parallel')
  for (const [index, dependent] of placed.entries()) {
    let outcome: Outcome = outcomes[index]!
    if (!outcome.ok && isUnsupportedMediaType(outcome.error)) {
      outcome = yield* patchOwnersByMerge(dependent, withoutOwners(dependent, [uid]), view)
    }
    if (!outcome.ok && !isNotFound(outcome.error)) errors.push(outcome.error)
  }
  return errors.length === 0
    ? { next: 'remove-finalizer' }
    : { next: 'retry', error: aggregateErrors(errors) }
}
