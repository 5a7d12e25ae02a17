/**
 * Status of a Deployment, from the status of its ReplicaSets.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Status and conditions.
 */
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '@gyropilot/api'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { currentTimeMs } from '@gyropilot/runtime'
import { AVAILABLE, MINIMUM_REPLICAS_AVAILABLE, MINIMUM_REPLICAS_UNAVAILABLE } from './events.ts'
import { maxUnavailableOf, replicasOf, sumOf, totalAvailable, totalReplicas } from './numbers.ts'
import { newCondition, withDeploymentCondition, withStatus } from './rollout.ts'
import type { Rollout } from './rollout.ts'

/** Feature gate DeploymentReplicaSetTerminatingReplicas. */
export interface StatusSettings {
  readonly terminatingReplicas: boolean
}

/** The plain status: sums, and whether enough is available. Other conditions are carried over. */
export function statusOf(
  rollout: Rollout,
  settings: StatusSettings,
  nowMs: number,
): DeploymentStatus {
  const { deployment, replicaSets, newReplicaSet } = rollout
  const availableReplicas = totalAvailable(replicaSets)
  const enough = availableReplicas >= replicasOf(deployment) - maxUnavailableOf(deployment)
  const available = enough
    ? newCondition(
        AVAILABLE,
        'True',
        MINIMUM_REPLICAS_AVAILABLE,
        'Deployment has minimum availability.',
        nowMs,
      )
    : newCondition(
        AVAILABLE,
        'False',
        MINIMUM_REPLICAS_UNAVAILABLE,
        'Deployment does not have minimum availability.',
        nowMs,
      )
  return wireStatus({
    observedGeneration: deployment.metadata?.generation,
    replicas: sumOf(replicaSets, (replicaSet) => replicaSet.status?.replicas ?? 0),
    updatedReplicas: newReplicaSet?.status?.replicas,
    readyReplicas: sumOf(replicaSets, (replicaSet) => replicaSet.status?.readyReplicas ?? 0),
    availableReplicas,
    unavailableReplicas: Math.max(0, totalReplicas(replicaSets) - availableReplicas),
    terminatingReplicas: settings.terminatingReplicas
      ? terminatingReplicasOf(replicaSets)
      : undefined,
    collisionCount: deployment.status?.collisionCount,
    conditions: withDeploymentCondition(deployment.status?.conditions, available),
  })
}

/**
 * ReplicaSets that nobody looked at yet do not count; one that was, and does not say, makes the sum
 * unknown.
 */
export function terminatingReplicasOf(replicaSets: readonly ReplicaSet[]): number | undefined {
  let sum = 0
  for (const { status } of replicaSets) {
    if (status?.terminatingReplicas !== undefined) sum += status.terminatingReplicas
    else if (status?.observedGeneration) return undefined
  }
  return sum
}

/** As on the wire: zero counters are absent, except those that distinguish zero from unknown. */
export function wireStatus(status: DeploymentStatus): DeploymentStatus {
  const { collisionCount, terminatingReplicas, conditions } = status
  const counters = {
    observedGeneration: status.observedGeneration,
    replicas: status.replicas,
    updatedReplicas: status.updatedReplicas,
    readyReplicas: status.readyReplicas,
    availableReplicas: status.availableReplicas,
    unavailableReplicas: status.unavailableReplicas,
  }
  return {
    ...Object.fromEntries(Object.entries(counters).filter(([, value]) => value)),
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
  }
}

export function sameStatus(
  left: DeploymentStatus | undefined,
  right: DeploymentStatus | undefined,
): boolean {
  const a = wireStatus(left ?? {})
  const b = wireStatus(right ?? {})
  return (
    a.observedGeneration === b.observedGeneration &&
    a.replicas === b.replicas &&
    a.updatedReplicas === b.updatedReplicas &&
    a.readyReplicas === b.readyReplicas &&
    a.availableReplicas === b.availableReplicas &&
    a.unavailableReplicas === b.unavailableReplicas &&
    a.terminatingReplicas === b.terminatingReplicas &&
    a.collisionCount === b.collisionCount &&
    sameConditions(a.conditions ?? [], b.conditions ?? [])
  )
}

function sameConditions(
  left: readonly DeploymentCondition[],
  right: readonly DeploymentCondition[],
): boolean {
  return (
    left.length === right.length &&
    left.every((condition, index) => sameCondition(condition, right[index]!))
  )
}

function sameCondition(left: DeploymentCondition, right: DeploymentCondition): boolean {
  return (
    left.type === right.type &&
    left.status === right.status &&
    left.reason === right.reason &&
    left.message === right.message &&
    left.lastUpdateTime === right.lastUpdateTime &&
    left.lastTransitionTime === right.lastTransitionTime
  )
}

/** As large as asked for, all of it new and available, and this generation was looked at. */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const replicas = replicasOf(deployment)
  return (
    (status?.updatedReplicas ?? 0) === replicas &&
    (status?.replicas ?? 0) === replicas &&
    (status?.availableReplicas ?? 0) === replicas &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata?.generation ?? 0)
  )
}

/** Writes the plain status if it changed; progress is not judged. */
export function* writePlainStatus(rollout: Rollout, settings: StatusSettings): Reconcile<Verdict> {
  const status = statusOf(rollout, settings, yield* currentTimeMs())
  if (sameStatus(rollout.deployment.status, status)) return {}
  const outcome = yield* rollout.writeStatus(withStatus(rollout.deployment, status))
  return outcome.ok ? {} : { error: outcome.error }
}
