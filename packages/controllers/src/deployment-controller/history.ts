/**
 * Deletes old ReplicaSets beyond the history limit.
 * Contract: docs/behaviour/controllers/deployment-controller.md, History cleanup.
 */
import { resources } from '@gyropilot/api'
import type { ReplicaSet } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { revisionOf } from './annotations.ts'
import type { Problem } from './new-replica-set.ts'
import { replicasOf, revisionHistoryLimitOf } from './numbers.ts'
import { byCreation } from './rollout.ts'
import type { Rollout } from './rollout.ts'

export function* cleanUpHistory(rollout: Rollout): Reconcile<Problem | undefined> {
  const limit = revisionHistoryLimitOf(rollout.deployment)
  if (limit === undefined) return undefined
  const candidates = rollout.oldReplicaSets.filter(
    (old) => old.metadata?.deletionTimestamp === undefined,
  )
  const surplus = candidates.length - limit
  if (surplus <= 0) return undefined
  // One that is still in use keeps its place among the surplus: nothing younger goes in its stead.
  for (const old of candidates.toSorted(byRevision).slice(0, surplus)) {
    if (isInUse(old)) continue
    const outcome = yield* write(remove(resources.replicasets, old))
    if (!outcome.ok && !isNotFound(outcome.error)) return { error: outcome.error }
  }
  return undefined
}

function isInUse({ metadata, spec, status }: ReplicaSet): boolean {
  const observed = status?.observedGeneration ?? 0
  return (
    (status?.replicas ?? 0) !== 0 ||
    replicasOf({ spec }) !== 0 ||
    (metadata?.generation ?? 0) > observed
  )
}

function byRevision(left: ReplicaSet, right: ReplicaSet): number {
  const leftRevision = revisionOf(left)
  const rightRevision = revisionOf(right)
  if (leftRevision === undefined || rightRevision === undefined || leftRevision === rightRevision) {
    return byCreation(left, right)
  }
  return leftRevision < rightRevision ? -1 : 1
}
