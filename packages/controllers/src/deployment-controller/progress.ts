/**
 * How a rollout is going: the conditions Progressing and ReplicaFailure, and when to look again for
 * a deadline.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Rollout status evaluation,
 * Concurrency.
 */
import { findCondition, parseTime, withoutCondition } from '@gyropilot/api'
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '@gyropilot/api'
import { currentTimeMs } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import {
  DEPLOYMENT_PAUSED,
  DEPLOYMENT_RESUMED,
  NEW_REPLICA_SET_AVAILABLE,
  PROGRESSING,
  PROGRESS_DEADLINE_EXCEEDED,
  REPLICA_FAILURE,
  REPLICA_SET_UPDATED,
} from './events.ts'
import { progressDeadlineMs } from './numbers.ts'
import { newCondition, withDeploymentCondition, withStatus } from './rollout.ts'
import type { Rollout } from './rollout.ts'
import { isComplete, sameStatus, statusOf, wireStatus } from './status.ts'
import type { StatusSettings } from './status.ts'

/** Deadlines are whole seconds after whole seconds: a little later nobody can miss one. */
const DEADLINE_SLACK_MS = 1000

/**
 * Writes the status with the verdict on progress; if nothing changed, plans the next look at the
 * deadline.
 */
export function* writeRolloutStatus(
  rollout: Rollout,
  settings: StatusSettings,
): Reconcile<Verdict> {
  const { deployment } = rollout
  const nowMs = yield* currentTimeMs()
  const plain = statusOf(rollout, settings, nowMs)
  const progress = withProgress(rollout, plain, nowMs)
  const status = wireStatus({ ...plain, conditions: withReplicaFailure(rollout, progress) })
  if (sameStatus(deployment.status, status))
    return { requeueAfterMs: untilDeadlineMs(deployment, status, nowMs) }
  const outcome = yield* rollout.writeStatus(withStatus(deployment, status))
  return outcome.ok ? {} : { error: outcome.error }
}

function withProgress(
  rollout: Rollout,
  status: DeploymentStatus,
  nowMs: number,
): readonly DeploymentCondition[] {
  const { deployment } = rollout
  const conditions = status.conditions ?? []
  const deadlineMs = progressDeadlineMs(deployment)
  if (deadlineMs === undefined) return withoutCondition(conditions, PROGRESSING)
  const current = findCondition(deployment.status?.conditions, PROGRESSING)
  const wasComplete =
    (status.replicas ?? 0) === (status.updatedReplicas ?? 0) &&
    current?.reason === NEW_REPLICA_SET_AVAILABLE
  if (wasComplete) return conditions
  const subject = subjectOf(rollout)
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`
    return withDeploymentCondition(
      conditions,
      newCondition(PROGRESSING, 'True', NEW_REPLICA_SET_AVAILABLE, message, nowMs),
    )
  }
  if (madeProgress(deployment.status, status)) {
    const next = newCondition(
      PROGRESSING,
      'True',
      REPLICA_SET_UPDATED,
      `${subject} is progressing.`,
      nowMs,
    )
    // Replaced even with the same reason: lastUpdateTime is what the deadline runs from.
    const since = current?.status === 'True' ? current.lastTransitionTime : next.lastTransitionTime
    return [...withoutCondition(conditions, PROGRESSING), { ...next, lastTransitionTime: since }]
  }
  if (isTimedOut(conditions, deadlineMs, nowMs)) {
    const message = `${subject} has timed out progressing.`
    return withDeploymentCondition(
      conditions,
      newCondition(PROGRESSING, 'False', PROGRESS_DEADLINE_EXCEEDED, message, nowMs),
    )
  }
  return conditions
}

function subjectOf({ deployment, newReplicaSet }: Rollout): string {
  if (newReplicaSet === undefined) return `Deployment "${deployment.metadata?.name}"`
  return `ReplicaSet "${newReplicaSet.metadata?.name}"`
}

/** More new, fewer old, more ready or more available pods than before. */
export function madeProgress(
  previous: DeploymentStatus | undefined,
  status: DeploymentStatus,
): boolean {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  const before = previous ?? {}
  return (
    updatedReplicas > (before.updatedReplicas ?? 0) ||
    replicas - updatedReplicas < (before.replicas ?? 0) - (before.updatedReplicas ?? 0) ||
    readyReplicas > (before.readyReplicas ?? 0) ||
    availableReplicas > (before.availableReplicas ?? 0)
  )
}

/** No progress for the whole deadline. A rollout that succeeded cannot time out any more. */
function isTimedOut(
  conditions: readonly DeploymentCondition[],
  deadlineMs: number,
  nowMs: number,
): boolean {
  const condition = findCondition(conditions, PROGRESSING)
  if (condition === undefined || condition.reason === NEW_REPLICA_SET_AVAILABLE) return false
  return updatedMs(condition) + deadlineMs < nowMs
}

/** When to look again though nothing happens; undefined when no deadline is running. */
export function untilDeadlineMs(
  deployment: Deployment,
  status: DeploymentStatus,
  nowMs: number,
): number | undefined {
  const deadlineMs = progressDeadlineMs(deployment)
  const condition = findCondition(deployment.status?.conditions, PROGRESSING)
  if (deadlineMs === undefined || condition === undefined) return undefined
  if (isComplete(deployment, status) || condition.reason === PROGRESS_DEADLINE_EXCEEDED)
    return undefined
  // It can no longer time out: upstream looks again and again for as long as a pod of it is not available.
  if (condition.reason === NEW_REPLICA_SET_AVAILABLE) return undefined
  const remainingMs = updatedMs(condition) + deadlineMs - nowMs
  return remainingMs < DEADLINE_SLACK_MS
    ? Math.max(0, remainingMs) + SHORTEST_WAIT_MS
    : remainingMs + DEADLINE_SLACK_MS
}

/** Nobody makes sure that a condition has its times: without one the deadline is long past, as with Go's zero time. */
function updatedMs({ lastUpdateTime }: DeploymentCondition): number {
  return parseTime(lastUpdateTime) ?? 0
}

/** The first step of the queue's back-off, for a deadline that is due within a second. */
const SHORTEST_WAIT_MS = 5

/** The condition of the new ReplicaSet, else the first one of any, is the Deployment's as well. */
function withReplicaFailure(
  rollout: Rollout,
  conditions: readonly DeploymentCondition[],
): readonly DeploymentCondition[] {
  const { newReplicaSet, replicaSets } = rollout
  const candidates: readonly ReplicaSet[] =
    newReplicaSet === undefined ? replicaSets : [newReplicaSet, ...replicaSets]
  for (const { status } of candidates) {
    const failure = findCondition(status?.conditions, REPLICA_FAILURE)
    if (failure === undefined) continue
    const { lastTransitionTime } = failure
    return withDeploymentCondition(conditions, {
      ...failure,
      lastTransitionTime,
      lastUpdateTime: lastTransitionTime,
    })
  }
  return withoutCondition(conditions, REPLICA_FAILURE)
}

/**
 * Progressing says Unknown while the Deployment is paused and after it was resumed, so that the
 * time of the pause does not count against the deadline. Written at once if it changed.
 */
export function* notePause(rollout: Rollout): Reconcile<Verdict> {
  const { deployment } = rollout
  if (progressDeadlineMs(deployment) === undefined) return {}
  const current = findCondition(deployment.status?.conditions, PROGRESSING)
  if (current?.reason === PROGRESS_DEADLINE_EXCEEDED) return {}
  const paused = deployment.spec?.paused === true
  const notedAsPaused = current?.reason === DEPLOYMENT_PAUSED
  if (paused === notedAsPaused) return {}
  const nowMs = yield* currentTimeMs()
  const next = paused
    ? newCondition(PROGRESSING, 'Unknown', DEPLOYMENT_PAUSED, 'Deployment is paused', nowMs)
    : newCondition(PROGRESSING, 'Unknown', DEPLOYMENT_RESUMED, 'Deployment is resumed', nowMs)
  const conditions = withDeploymentCondition(deployment.status?.conditions, next)
  const outcome = yield* rollout.writeStatus(
    withStatus(deployment, { ...deployment.status, conditions }),
  )
  return outcome.ok ? {} : { error: outcome.error }
}
