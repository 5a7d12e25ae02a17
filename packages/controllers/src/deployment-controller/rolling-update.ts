/**
 * The rolling update: one step per sync, either the new ReplicaSet up or old ones down, within
 * surge and unavailability.
 * Contract: docs/behaviour/controllers/deployment-controller.md, RollingUpdate rollout.
 */
import type { ReplicaSet } from '@gyropilot/api'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { cleanUpHistory } from './history.ts'
import { syncNewReplicaSet } from './new-replica-set.ts'
import type { NewReplicaSetRules } from './new-replica-set.ts'
import {
  availableReplicasOf,
  maxUnavailableOf,
  newReplicaSetSize,
  replicasOf,
  totalAvailable,
  totalReplicas,
} from './numbers.ts'
import { writeRolloutStatus } from './progress.ts'
import { byCreation } from './rollout.ts'
import type { Rollout } from './rollout.ts'
import { scaleTo } from './scale.ts'
import type { Scaled } from './scale.ts'
import { isComplete } from './status.ts'
import type { StatusSettings } from './status.ts'

type Rules = Omit<NewReplicaSetRules, 'createMissing'>

export function* rollingUpdate(
  rollout: Rollout,
  rules: Rules,
  settings: StatusSettings,
): Reconcile<Verdict> {
  // 1.
  const problem = yield* syncNewReplicaSet(rollout, { ...rules, createMissing: true })
  if (problem !== undefined) return problem
  const newReplicaSet = rollout.newReplicaSet!
  // 2.
  const resized = yield* scaleNewReplicaSet(rollout, newReplicaSet)
  if (resized.error !== undefined) return { error: resized.error }
  if (resized.scaled) return yield* writeRolloutStatus(rollout, settings)
  // 3.
  if (yield* scaleDownOldReplicaSets(rollout, newReplicaSet))
    return yield* writeRolloutStatus(rollout, settings)
  // 4. As the status was before this sync: history goes one sync after the rollout is complete.
  if (isComplete(rollout.deployment, rollout.deployment.status)) {
    const failed = yield* cleanUpHistory(rollout)
    if (failed !== undefined) return failed
  }
  // 5.
  return yield* writeRolloutStatus(rollout, settings)
}

export function* scaleNewReplicaSet(
  rollout: Rollout,
  newReplicaSet: ReplicaSet,
): Reconcile<Scaled> {
  const { deployment } = rollout
  const replicas = replicasOf(deployment)
  const current = replicasOf(newReplicaSet)
  if (current === replicas) return { scaled: false }
  if (current > replicas) return yield* scaleTo(rollout, newReplicaSet, replicas)
  const size = newReplicaSetSize(deployment, current, totalReplicas(rollout.replicaSets))
  return yield* scaleTo(rollout, newReplicaSet, size)
}

/**
 * Old pods that are unavailable go first, since nobody misses them; then available ones, as far as
 * enough stay available. New pods that are not available count against both, so a template that
 * never becomes ready does not drain the old one. Whether anything was scaled; an error counts as
 * no, and the sync goes on.
 */
export function* scaleDownOldReplicaSets(
  rollout: Rollout,
  newReplicaSet: ReplicaSet,
): Reconcile<boolean> {
  if (totalReplicas(rollout.activeOldReplicaSets) === 0) return false
  const minimumAvailable = replicasOf(rollout.deployment) - maxUnavailableOf(rollout.deployment)
  const newUnavailable = replicasOf(newReplicaSet) - availableReplicasOf(newReplicaSet)
  const maxScaledDown = totalReplicas(rollout.replicaSets) - minimumAvailable - newUnavailable
  if (maxScaledDown <= 0) return false
  const unhealthy = yield* cleanUpUnhealthy(rollout, maxScaledDown)
  if (unhealthy === undefined) return false
  const available = yield* scaleDownAvailable(rollout, newReplicaSet, minimumAvailable)
  if (available === undefined) return false
  return unhealthy + available > 0
}

/** Returns how many replicas were taken away, or undefined after an error. */
export function* cleanUpUnhealthy(rollout: Rollout, budget: number): Reconcile<number | undefined> {
  let scaledDown = 0
  for (const old of rollout.activeOldReplicaSets.toSorted(byCreation)) {
    if (scaledDown >= budget) break
    const unavailable = replicasOf(old) - availableReplicasOf(old)
    const count = Math.min(budget - scaledDown, unavailable)
    // More available than asked for: the ReplicaSet is about to shrink by itself, and must not be made larger.
    if (count < 0) return undefined
    const { error } = yield* scaleTo(rollout, old, replicasOf(old) - count)
    if (error !== undefined) return undefined
    scaledDown += count
  }
  return scaledDown
}

/** Returns how many replicas were taken away, or undefined after an error. */
export function* scaleDownAvailable(
  rollout: Rollout,
  newReplicaSet: ReplicaSet,
  minimumAvailable: number,
): Reconcile<number | undefined> {
  const oldReplicaSets = rollout.activeOldReplicaSets
  const budget = totalAvailable([...oldReplicaSets, newReplicaSet]) - minimumAvailable
  let scaledDown = 0
  for (const old of oldReplicaSets.toSorted(byCreation)) {
    if (scaledDown >= budget) break
    const count = Math.min(replicasOf(old), budget - scaledDown)
    const { error } = yield* scaleTo(rollout, old, replicasOf(old) - count)
    if (error !== undefined) return undefined
    scaledDown += count
  }
  return scaledDown
}
