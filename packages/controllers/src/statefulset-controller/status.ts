/**
 * Status of a StatefulSet.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Status and conditions.
 */
import { isPodAvailable, isTerminating } from '@gyropilot/api'
import type { Pod, StatefulSet, StatefulSetStatus } from '@gyropilot/api'
import { revisionOf } from './pod-identity.ts'
import { isCreated, isRunningAndReady } from './replicas.ts'

export interface PodCounts {
  readonly replicas: number
  readonly readyReplicas: number
  readonly availableReplicas: number
  readonly currentReplicas: number
  readonly updatedReplicas: number
}

export interface CountingRules {
  readonly minReadySeconds: number
  readonly nowMs: number
  /** Names of revisions. */
  readonly current: string
  readonly update: string
}

export function countPods(
  pods: readonly Pod[],
  { minReadySeconds, nowMs, current, update }: CountingRules,
): PodCounts {
  const counts = {
    replicas: 0,
    readyReplicas: 0,
    availableReplicas: 0,
    currentReplicas: 0,
    updatedReplicas: 0,
  }
  for (const pod of pods) {
    if (!isCreated(pod)) continue
    counts.replicas += 1
    if (isRunningAndReady(pod)) {
      counts.readyReplicas += 1
      if (isPodAvailable(pod, minReadySeconds, nowMs)) counts.availableReplicas += 1
    }
    if (isTerminating(pod)) continue
    if (revisionOf(pod) === current) counts.currentReplicas += 1
    if (revisionOf(pod) === update) counts.updatedReplicas += 1
  }
  return counts
}

interface Revisions {
  readonly current: string
  readonly update: string
  readonly collisionCount: number
}

/** The status to be written; a rolling update that is through makes its revision the current one. */
export function statusOf(
  set: StatefulSet,
  counts: PodCounts,
  { current, update, collisionCount }: Revisions,
): StatefulSetStatus {
  const isThrough = isUpdated(set, counts)
  const currentReplicas = isThrough ? counts.updatedReplicas : counts.currentReplicas
  const { generation } = set.metadata ?? {}
  const { replicas, readyReplicas, availableReplicas, updatedReplicas } = counts
  // On the wire two counters are there when they are zero and three are not.
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    replicas,
    ...(readyReplicas === 0 ? {} : { readyReplicas }),
    availableReplicas,
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    ...(updatedReplicas === 0 ? {} : { updatedReplicas }),
    currentRevision: isThrough ? update : current,
    updateRevision: update,
    collisionCount,
  }
}

/** All pods of the newest revision and ready; available is not asked for. */
function isUpdated(set: StatefulSet, counts: PodCounts): boolean {
  const wanted = set.spec?.replicas ?? 1
  return (
    set.spec?.updateStrategy?.type === 'RollingUpdate' &&
    counts.updatedReplicas === wanted &&
    counts.readyReplicas === wanted &&
    counts.replicas === wanted
  )
}

const COMPARED = [
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'currentReplicas',
  'updatedReplicas',
] as const

/** Whether nothing needs to be written. The collision count alone is no reason to. */
export function isStatusCurrent(set: StatefulSet, next: StatefulSetStatus): boolean {
  const { status } = set
  return (
    (next.observedGeneration ?? 0) <= (status?.observedGeneration ?? 0) &&
    COMPARED.every((field) => (status?.[field] ?? 0) === (next[field] ?? 0)) &&
    (status?.currentRevision ?? '') === next.currentRevision &&
    (status?.updateRevision ?? '') === next.updateRevision
  )
}
