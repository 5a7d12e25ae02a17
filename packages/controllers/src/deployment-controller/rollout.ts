/**
 * The working copy of one sync: the Deployment and its ReplicaSets as last written, so that a later
 * write in the same sync carries the resourceVersion of an earlier one instead of running into a
 * conflict.
 */
import { replaceCondition, resources } from '@gyropilot/api'
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { updateStatus, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { isActive } from './numbers.ts'

export class Rollout {
  deployment: Deployment
  /** The ReplicaSet with the Deployment's template, once it was looked for and found or created. */
  newReplicaSet: ReplicaSet | undefined
  /** All others of the Deployment, in no particular order. */
  oldReplicaSets: readonly ReplicaSet[]

  constructor(deployment: Deployment, replicaSets: readonly ReplicaSet[]) {
    this.deployment = deployment
    this.oldReplicaSets = replicaSets
  }

  /** The old ones first, the new one last. */
  get replicaSets(): readonly ReplicaSet[] {
    return this.newReplicaSet === undefined
      ? this.oldReplicaSets
      : [...this.oldReplicaSets, this.newReplicaSet]
  }

  get activeOldReplicaSets(): readonly ReplicaSet[] {
    return this.oldReplicaSets.filter(isActive)
  }

  /** Takes in what the server answered to a write of one of the ReplicaSets. */
  replaced(replicaSet: ReplicaSet): void {
    const uid = replicaSet.metadata?.uid
    if (this.newReplicaSet?.metadata?.uid === uid) this.newReplicaSet = replicaSet
    else
      this.oldReplicaSets = this.oldReplicaSets.map((old) =>
        old.metadata?.uid === uid ? replicaSet : old,
      )
  }

  /** Writes the Deployment through its status subresource; annotations travel with it. */
  *writeStatus(deployment: Deployment): Reconcile<Outcome<Deployment>> {
    const outcome = yield* write(updateStatus(resources.deployments, deployment))
    if (outcome.ok) this.deployment = outcome.object
    return outcome
  }
}

export function withStatus(deployment: Deployment, status: DeploymentStatus): Deployment {
  return { ...deployment, status }
}

export function newCondition(
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  nowMs: number,
): DeploymentCondition {
  const time = formatTime(nowMs)
  return { type, status, lastUpdateTime: time, lastTransitionTime: time, reason, message }
}

/**
 * Replaces by type, unless status and reason are the same; lastTransitionTime stays while the
 * status does.
 */
export function withDeploymentCondition(
  conditions: readonly DeploymentCondition[] | undefined,
  next: DeploymentCondition,
): readonly DeploymentCondition[] {
  return replaceCondition(conditions, next, { keepTransitionTime: true })
}

/** Older first, by name among those of one second. */
export function byCreation(left: ReplicaSet, right: ReplicaSet): number {
  return (
    compareText(left.metadata?.creationTimestamp ?? '', right.metadata?.creationTimestamp ?? '') ||
    compareText(left.metadata?.name ?? '', right.metadata?.name ?? '')
  )
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
