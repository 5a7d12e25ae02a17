/**
 * How many pods a Deployment wants and may have.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Numbers.
 */
import { resolveIntOrPercent } from '@gyropilot/api'
import type { Deployment, ReplicaSet } from '@gyropilot/api'

const MAX_INT32 = 2_147_483_647

/** R: the size asked for. */
export function replicasOf(object: Deployment | ReplicaSet): number {
  return object.spec?.replicas ?? 1
}

export function isRollingUpdate(deployment: Deployment): boolean {
  return deployment.spec?.strategy?.type === 'RollingUpdate'
}

/** How many pods above R a rollout may have; 0 unless it is a rolling update. */
export function maxSurgeOf(deployment: Deployment): number {
  if (!isRollingUpdate(deployment)) return 0
  return fencepostsOf(deployment).maxSurge
}

/** How many pods below R a rollout may have; at most R. 0 for Recreate. */
export function maxUnavailableOf(deployment: Deployment): number {
  if (!isRollingUpdate(deployment)) return 0
  return Math.min(fencepostsOf(deployment).maxUnavailable, replicasOf(deployment))
}

/**
 * Surge is rounded up and unavailability down; with both 0 no rollout could move, so one pod may be
 * unavailable.
 */
export function fencepostsOf(deployment: Deployment): {
  readonly maxSurge: number
  readonly maxUnavailable: number
} {
  const replicas = replicasOf(deployment)
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {}
  const surge = resolveIntOrPercent(maxSurge ?? 0, replicas, 'up')
  const unavailable = resolveIntOrPercent(maxUnavailable ?? 0, replicas, 'down')
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

/** R and its surge: written onto every ReplicaSet that is scaled. */
export function maxReplicasOf(deployment: Deployment): number {
  return replicasOf(deployment) + maxSurgeOf(deployment)
}

export function sumOf(
  replicaSets: readonly ReplicaSet[],
  amount: (replicaSet: ReplicaSet) => number,
): number {
  return replicaSets.reduce((sum, replicaSet) => sum + amount(replicaSet), 0)
}

/** spec.replicas over all. */
export function totalReplicas(replicaSets: readonly ReplicaSet[]): number {
  return sumOf(replicaSets, replicasOf)
}

export function availableReplicasOf(replicaSet: ReplicaSet): number {
  return replicaSet.status?.availableReplicas ?? 0
}

export function totalAvailable(replicaSets: readonly ReplicaSet[]): number {
  return sumOf(replicaSets, availableReplicasOf)
}

export function isActive(replicaSet: ReplicaSet): boolean {
  return replicasOf(replicaSet) > 0
}

/**
 * The size of the new ReplicaSet, which has `current` replicas, when all ReplicaSets together have
 * `total`.
 */
export function newReplicaSetSize(deployment: Deployment, current: number, total: number): number {
  const replicas = replicasOf(deployment)
  switch (deployment.spec?.strategy?.type) {
    case 'Recreate':
      return replicas
    case 'RollingUpdate': {
      const limit = maxReplicasOf(deployment)
      return total >= limit ? current : current + Math.min(limit - total, replicas - current)
    }
    default:
      throw new UnexpectedStrategy(deployment)
  }
}

export class UnexpectedStrategy extends Error {
  constructor(deployment: Deployment) {
    super(`unexpected deployment strategy type: ${deployment.spec?.strategy?.type ?? ''}`)
    this.name = 'UnexpectedStrategy'
  }
}

/** A deadline of MaxInt32 means none. */
export function progressDeadlineMs(deployment: Deployment): number | undefined {
  const seconds = deployment.spec?.progressDeadlineSeconds
  return seconds === undefined || seconds === MAX_INT32 ? undefined : seconds * 1000
}

/** A limit of MaxInt32 means none. */
export function revisionHistoryLimitOf(deployment: Deployment): number | undefined {
  const limit = deployment.spec?.revisionHistoryLimit
  return limit === MAX_INT32 ? undefined : limit
}
