/** Decides whether one object goes. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Deletion check of a node. */
import { deepEqual, hasFinalizer } from '@gyropilot/api'
import type { KubernetesObject, OwnerReference } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { DeleteOptions } from '@gyropilot/client'
import { write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { AbsentOwners } from './graph/absent-owners.ts'
import { classifyOwners } from './classify-owners.ts'
import type { ClassifiedOwners } from './classify-owners.ts'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from './config.ts'
import type { GraphNode } from './graph/graph-node.ts'
import type { ObjectIdentity } from './graph/identity.ts'
import { OwnerNamespaceUnknownError, placeOf, readLive } from './live-metadata.ts'
import type { OrphanedOwners } from './orphaned-owners.ts'
import { patchOwners, withoutBlocking, withoutOwners } from './owner-patches.ts'
import { lookForDependents } from './unseen-dependents.ts'
import type { LookView } from './unseen-dependents.ts'

/** What became of a check. */
export type Checked =
  /** All is as it should be for now. A node that is still virtual is checked again later. */
  | { readonly next: 'done' }
  /** Nothing more will come of this node. */
  | { readonly next: 'forget' }
  /** The object does not exist: the graph must learn of it. */
  | { readonly next: 'absent' }
  /** These must go first. */
  | { readonly next: 'check-dependents'; readonly dependents: readonly GraphNode[] }
  /** No dependent holds up the foreground deletion any longer. */
  | { readonly next: 'remove-finalizer'; readonly live: KubernetesObject }
  /** Nothing is wrong, but more is to be done or seen first. */
  | { readonly next: 'later' }
  | { readonly next: 'retry'; readonly error: unknown }

export interface Collector extends LookView {
  readonly absentOwners: AbsentOwners
  readonly orphanedOwners: OrphanedOwners
}

const DONE: Checked = { next: 'done' }

export function* attemptToDelete(node: GraphNode, collector: Collector): Reconcile<Checked> {
  // 1. Somebody else answers for this uid, or nobody refers to it any longer.
  if (node.isVirtual) {
    const current = collector.graph.get(node.identity.uid)
    if (current === undefined || !current.isVirtual) return { next: 'forget' }
  }
  // 2.
  if (node.isBeingDeleted && !node.isDeletingDependents) return DONE
  // Most of them were queued when a dependent was seen first: at a start that is every Service. An owner it gets later queues it again.
  const hasNoOwners = !node.isVirtual && node.owners.length === 0
  if (hasNoOwners && !node.isDeletingDependents) return DONE
  // 4. Whether its dependents go is judged when they are checked, by what the server says then.
  const blocking = node.isDeletingDependents ? node.blockingDependents() : []
  if (blocking.length > 0) {
    // Those that are on their way out say so themselves when they are gone: thousands would be asked after at each that goes.
    const dependents = blocking.filter(
      ({ isBeingDeleted, isDeletingDependents }) => !isBeingDeleted && !isDeletingDependents,
    )
    return { next: 'check-dependents', dependents }
  }
  // 3. What is cached may be old: every decision rests on what the server says now.
  const live = yield* readLive(node.identity, collector, node.isVirtual ? 'exact' : 'any')
  if (!live.ok) return unread(live.error)
  if (live.object.metadata?.uid !== node.identity.uid) return { next: 'absent' }
  // 4.
  if (node.isDeletingDependents) return yield* release(node, live.object, collector)
  // 5.
  const references = live.object.metadata.ownerReferences ?? []
  if (references.length === 0) return DONE
  // 6.
  const { namespace } = node.identity
  const { absentOwners } = collector
  const owners = yield* classifyOwners(references, namespace, collector, absentOwners)
  if (!owners.ok) return unjudged(owners.error)
  // 7.
  if (owners.object.solid.length > 0) return yield* dropOthers(node, owners.object, collector)
  const orphaned = owners.object.dangling.filter(({ uid }) =>
    collector.orphanedOwners.leftBehind(live.object, uid),
  )
  if (orphaned.length > 0) {
    const freed = yield* dropOwners(node, orphaned, collector)
    return freed.next === 'done' && orphaned.length < references.length ? { next: 'later' } : freed
  }
  // 8.
  if (owners.object.waiting.length > 0 && node.dependents.size > 0) {
    const released = yield* breakCycle(node, collector)
    if (released !== undefined) return released
    return yield* deleteObject(node.identity, live.object, 'Foreground', collector)
  }
  // 9.
  return yield* deleteObject(node.identity, live.object, policyOf(live.object), collector)
}

function unread(error: unknown): Checked {
  return isNotFound(error) ? { next: 'absent' } : unjudged(error)
}

function unjudged(error: unknown): Checked {
  return error instanceof OwnerNamespaceUnknownError ? { next: 'forget' } : { next: 'retry', error }
}

function concluded(outcome: Outcome): Checked {
  return outcome.ok ? DONE : { next: 'retry', error: outcome.error }
}

/** No dependent in the graph blocks it. */
function* release(
  node: GraphNode,
  live: KubernetesObject,
  collector: Collector,
): Reconcile<Checked> {
  const looked = yield* lookForDependents(node, collector)
  if (looked.next !== 'found') return looked
  // The graph will show it soon, and then it is checked as all others are.
  const isUnseen = looked.dependents.some(({ reference }) => reference.blockOwnerDeletion === true)
  return isUnseen ? { next: 'later' } : { next: 'remove-finalizer', live }
}

/** A solid owner keeps the object, which must not hold up the deletion of the others. */
function* dropOthers(
  node: GraphNode,
  { dangling, waiting }: ClassifiedOwners,
  collector: Collector,
): Reconcile<Checked> {
  const others = [...dangling, ...waiting]
  return others.length === 0 ? DONE : yield* dropOwners(node, others, collector)
}

function* dropOwners(
  { identity }: GraphNode,
  owners: readonly OwnerReference[],
  collector: Collector,
): Reconcile<Checked> {
  const uids = owners.map(({ uid }) => uid)
  return concluded(yield* patchOwners(identity, withoutOwners(identity, uids), collector))
}

/**
 * A dependent that is itself deleted in the foreground may wait for this very object over a cycle of references. That is
 * not certain, but releasing the owners is harmless: the object is deleted next.
 */
function* breakCycle(node: GraphNode, collector: Collector): Reconcile<Checked | undefined> {
  const mayBeCycle = [...node.dependents].some(({ isDeletingDependents }) => isDeletingDependents)
  if (!mayBeCycle) return undefined
  const released = yield* patchOwners(node.identity, withoutBlocking(node), collector)
  return released.ok ? undefined : concluded(released)
}

type Policy = NonNullable<DeleteOptions['propagationPolicy']>

/** What an earlier deletion asked for stays in force. */
function policyOf(object: KubernetesObject): Policy {
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return 'Orphan'
  return hasFinalizer(object, FOREGROUND_FINALIZER) ? 'Foreground' : 'Background'
}

/**
 * Deletes the object in the state that was judged. If it changed meanwhile, but not in its owners, the judgement holds:
 * else an object that is updated all the time could never be collected.
 */
function* deleteObject(
  identity: ObjectIdentity,
  judged: KubernetesObject,
  propagationPolicy: Policy,
  collector: Collector,
): Reconcile<Checked> {
  const { uid } = identity
  const { resourceVersion, ownerReferences, deletionTimestamp } = judged.metadata ?? {}
  // In deletion as it should be: the graph is about to show it.
  if (deletionTimestamp !== undefined && policyOf(judged) === propagationPolicy) return DONE
  const first = yield* remove(
    identity,
    { propagationPolicy, preconditions: { uid, resourceVersion } },
    collector,
  )
  if (first.ok) return DONE
  if (!isConflict(first.error)) return unread(first.error)
  const live = yield* readLive(identity, collector, 'any')
  if (!live.ok && isNotFound(live.error)) return { next: 'absent' }
  const current = live.ok ? live.object.metadata : undefined
  const sameJudgement =
    current?.uid === uid &&
    current.resourceVersion !== resourceVersion &&
    sameReferences(current.ownerReferences, ownerReferences)
  if (!sameJudgement) return { next: 'retry', error: first.error }
  const second = yield* remove(identity, { propagationPolicy, preconditions: { uid } }, collector)
  return second.ok ? DONE : unread(second.error)
}

function sameReferences(
  one: readonly OwnerReference[] = [],
  other: readonly OwnerReference[] = [],
): boolean {
  return deepEqual(one, other)
}

function* remove(
  identity: ObjectIdentity,
  options: DeleteOptions,
  collector: Collector,
): Reconcile<Outcome> {
  const place = placeOf(identity, collector, 'any')
  if (!place.ok) return place
  return yield* write({ verb: 'delete', ...place.object, name: identity.name, options })
}
