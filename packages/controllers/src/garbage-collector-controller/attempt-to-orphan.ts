/** Sets dependents free from an owner. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Orphaning a node. */
import { isNotFound, isUnsupportedMediaType } from '@gyropilot/client'
import { writeAll } from '@gyropilot/runtime'
import type { Outcome, Reconcile, WriteOf } from '@gyropilot/runtime'
import type { KubernetesObject } from '@gyropilot/api'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import type { GraphNode } from './graph-node.ts'
import type { ObjectIdentity } from './identity.ts'
import { placeOf } from './live-metadata.ts'
import type { CollectorView } from './live-metadata.ts'
import { patchOf, patchOwnersByMerge, withoutOwners } from './owner-patches.ts'

export type Orphaned = { readonly ok: true } | { readonly ok: false; readonly error: unknown }

/** Removes the owner from all dependents known at this moment. Those that fail do not keep the others from being freed. */
export function* orphanDependents(owner: GraphNode, view: CollectorView): Reconcile<Orphaned> {
  const { uid } = owner.identity
  const errors: unknown[] = []
  const dependents: ObjectIdentity[] = []
  const writes: WriteOf<KubernetesObject>[] = []
  for (const { identity } of owner.dependents) {
    const place = placeOf(identity, view)
    if (!place.ok) {
      errors.push(place.error)
      continue
    }
    dependents.push(identity)
    writes.push(patchOf(identity, place.object, withoutOwners(identity, [uid]).strategic))
  }
  const outcomes = writes.length === 0 ? [] : yield* writeAll(writes, 'parallel')
  for (const [index, dependent] of dependents.entries()) {
    let outcome: Outcome = outcomes[index]!
    if (!outcome.ok && isUnsupportedMediaType(outcome.error)) {
      outcome = yield* patchOwnersByMerge(dependent, withoutOwners(dependent, [uid]), view)
    }
    if (!outcome.ok && !isNotFound(outcome.error)) errors.push(outcome.error)
  }
  return errors.length === 0 ? { ok: true } : { ok: false, error: aggregateErrors(errors) }
}
