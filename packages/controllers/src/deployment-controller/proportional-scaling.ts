/**
 * Resizing in the middle of a rollout or while paused: replicas are added to or taken from all
 * active ReplicaSets in proportion to their size.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Scaling sync.
 */
import type { Deployment, ReplicaSet } from '@gyropilot/api'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { desiredReplicasOf, recordedMaxReplicasOf, rollbackRevisionOf } from './annotations.ts'
import { cleanUpHistory } from './history.ts'
import { syncNewReplicaSet } from './new-replica-set.ts'
import type { NewReplicaSetRules, Problem } from './new-replica-set.ts'
import {
  availableReplicasOf,
  isActive,
  isRollingUpdate,
  maxReplicasOf,
  maxSurgeOf,
  replicasOf,
  totalReplicas,
} from './numbers.ts'
import { byCreation } from './rollout.ts'
import type { Rollout } from './rollout.ts'
import { scaleAndAnnotate, scaleTo } from './scale.ts'
import { writePlainStatus } from './status.ts'
import type { StatusSettings } from './status.ts'

/** The Deployment was resized since one of its active ReplicaSets was last scaled. */
export function isScalingEvent(rollout: Rollout): boolean {
  return rollout.replicaSets.filter(isActive).some((replicaSet) => {
    const desired = desiredReplicasOf(replicaSet)
    return desired !== undefined && desired !== replicasOf(rollout.deployment)
  })
}

/** Never creates a ReplicaSet and does not judge progress. */
export function* scalingSync(
  rollout: Rollout,
  rules: Omit<NewReplicaSetRules, 'createMissing'>,
  settings: StatusSettings,
): Reconcile<Verdict> {
  const problem =
    (yield* syncNewReplicaSet(rollout, { ...rules, createMissing: false })) ??
    (yield* scale(rollout))
  if (problem !== undefined) return problem
  // 5.
  const { deployment } = rollout
  if (deployment.spec?.paused === true && rollbackRevisionOf(deployment) === undefined) {
    const failed = yield* cleanUpHistory(rollout)
    if (failed !== undefined) return failed
  }
  return yield* writePlainStatus(rollout, settings)
}

/** Steps 1 to 4 of the scaling sync. */
export function* scale(rollout: Rollout): Reconcile<Problem | undefined> {
  const { deployment, newReplicaSet } = rollout
  const replicas = replicasOf(deployment)
  // A scaling event whose annotation stays would be one for ever; while paused nothing waits for its end.
  const endsScalingEvent = deployment.spec?.paused !== true
  // 1.
  const only = activeOrLatest(rollout)
  if (only !== undefined) {
    const resize = endsScalingEvent ? scaleAndAnnotate : scaleTo
    return problemOf(yield* resize(rollout, only, replicas))
  }
  // 2.
  if (isSaturated(deployment, newReplicaSet)) {
    for (const old of rollout.activeOldReplicaSets) {
      const problem = problemOf(yield* scaleTo(rollout, old, 0))
      if (problem !== undefined) return problem
    }
    return undefined
  }
  // 4. Of several active ReplicaSets Recreate resizes none. It notes the new size, so that the next sync rolls out.
  if (!isRollingUpdate(deployment)) {
    if (!endsScalingEvent) return undefined
    for (const replicaSet of rollout.replicaSets.filter(isActive)) {
      const size = replicasOf(replicaSet)
      const problem = problemOf(yield* scaleAndAnnotate(rollout, replicaSet, size))
      if (problem !== undefined) return problem
    }
    return undefined
  }
  // 3.
  for (const { replicaSet, size } of proportionalSizes(
    deployment,
    rollout.replicaSets.filter(isActive),
  )) {
    const problem = problemOf(yield* scaleAndAnnotate(rollout, replicaSet, size))
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemOf({ error }: { readonly error?: unknown }): Problem | undefined {
  return error === undefined ? undefined : { error }
}

/**
 * The one active ReplicaSet; without any the new one, else the newest. Undefined when several are
 * active.
 */
function activeOrLatest({
  newReplicaSet,
  oldReplicaSets,
  replicaSets,
}: Rollout): ReplicaSet | undefined {
  const active = replicaSets.filter(isActive)
  if (active.length > 1) return undefined
  return active[0] ?? newReplicaSet ?? oldReplicaSets.toSorted(byCreation).at(-1)
}

/** The new ReplicaSet has the whole size, by its last scaling too, and all of it is available. */
export function isSaturated(
  deployment: Deployment,
  newReplicaSet: ReplicaSet | undefined,
): boolean {
  if (newReplicaSet === undefined) return false
  const replicas = replicasOf(deployment)
  return (
    replicasOf(newReplicaSet) === replicas &&
    desiredReplicasOf(newReplicaSet) === replicas &&
    availableReplicasOf(newReplicaSet) === replicas
  )
}

interface ProposedSize {
  readonly replicaSet: ReplicaSet
  readonly size: number
}

/**
 * Largest first; among equals the newest first when replicas are added, the oldest first when they
 * are taken away.
 */
export function proportionalSizes(
  deployment: Deployment,
  active: readonly ReplicaSet[],
): readonly ProposedSize[] {
  const replicas = replicasOf(deployment)
  const allowed = replicas > 0 ? replicas + maxSurgeOf(deployment) : 0
  const toAdd = allowed - totalReplicas(active)
  const ordered = active.toSorted(
    (left, right) =>
      replicasOf(right) - replicasOf(left) ||
      (toAdd > 0 ? byCreation(right, left) : byCreation(left, right)),
  )
  let added = 0
  const sizes = ordered.map((replicaSet) => {
    const proportion = proportionOf(deployment, replicaSet, toAdd, added)
    added += proportion
    return replicasOf(replicaSet) + proportion
  })
  // What rounding left over goes to the largest.
  sizes[0] = Math.max(0, sizes[0]! + toAdd - added)
  return ordered.map((replicaSet, index) => ({ replicaSet, size: sizes[index]! }))
}

/**
 * The share of one ReplicaSet in what is to be added (or, below 0, taken away), of which `added` is
 * given out.
 */
function proportionOf(
  deployment: Deployment,
  replicaSet: ReplicaSet,
  toAdd: number,
  added: number,
): number {
  const allowed = toAdd - added
  if (allowed === 0) return 0
  const fraction = fractionOf(deployment, replicaSet)
  return toAdd > 0 ? Math.min(fraction, allowed) : Math.max(fraction, allowed)
}

function fractionOf(deployment: Deployment, replicaSet: ReplicaSet): number {
  const size = replicasOf(replicaSet)
  if (replicasOf(deployment) === 0) return -size
  const formerMax = recordedMaxReplicasOf(replicaSet) || (deployment.status?.replicas ?? 0)
  if (formerMax === 0) return 0
  return Math.round((size * maxReplicasOf(deployment)) / formerMax) - size
}
