/**
 * One sync of a ReplicaSet. Step numbers are those of
 * docs/behaviour/controllers/replicaset-controller.md; steps 1 (stale cache), 2 (object is gone)
 * and 9 (remembered versions) are the shell's, 3 is in what was observed.
 */
import {
  isControlledBy,
  isPodActive,
  isPodTerminating,
  nextAvailabilityCheckOfMs,
  resources,
} from '@gyropilot/api'
import type { LabelQuery, Pod, ReplicaSet, ReplicaSetStatus } from '@gyropilot/api'
import { currentTimeMs, getLive, updateStatus, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { claim } from '../workload-support/claim.ts'
import { selectorQuery } from '../workload-support/label-selector.ts'
import { manageReplicas } from './manage-replicas.ts'
import type { ManageReplicasSettings } from './manage-replicas.ts'
import type { ObservedReplicaSet } from './observe.ts'
import { isStatusCurrent, statusOf } from './status.ts'

export interface ReplicaSetSettings extends ManageReplicasSettings {
  /** Feature gate DeploymentReplicaSetTerminatingReplicas. */
  readonly terminatingReplicas: boolean
  onInvalidSelector?(replicaSet: ReplicaSet, error: unknown): void
}

export function* reconcile(observed: ObservedReplicaSet, settings: ReplicaSetSettings): Reconcile {
  const { replicaSet, expectationsMet, pods } = observed
  // 4. A selector that cannot be understood will not get better by a retry.
  let query: LabelQuery
  try {
    query = selectorQuery(replicaSet.spec?.selector)
  } catch (error) {
    settings.onInvalidSelector?.(replicaSet, error)
    return
  }
  const matches = (pod: Pod): boolean => query.matches(pod.metadata?.labels)
  // 5.
  const claimed = yield* claim(
    { owner: replicaSet, ownerType: resources.replicasets, type: resources.pods, matches },
    pods.filter(isPodActive),
  )
  if (claimed.error !== undefined) return { error: claimed.error }
  const activePods = claimed.objects
  // 6.
  const terminatingReplicas = settings.terminatingReplicas
    ? pods.filter((pod) => isPodTerminating(pod) && isControlledBy(pod, replicaSet) && matches(pod))
        .length
    : undefined
  // 7.
  let manageError: unknown
  if (expectationsMet && replicaSet.metadata?.deletionTimestamp === undefined) {
    manageError = yield* manageReplicas(observed, activePods, settings)
  }
  // 8.
  const nowMs = yield* currentTimeMs()
  const status = statusOf({ replicaSet, activePods, terminatingReplicas, manageError, nowMs })
  const updated = yield* writeStatus(replicaSet, status)
  if (!updated.ok) return { error: updated.error }
  // 10.
  if (manageError !== undefined) return { error: manageError }
  // 11. Pods become available without an event; nobody else would look again.
  const minReadySeconds = updated.object.spec?.minReadySeconds ?? 0
  const { readyReplicas = 0, availableReplicas = 0 } = updated.object.status ?? {}
  if (minReadySeconds > 0 && readyReplicas !== availableReplicas) {
    const nextCheckMs = nextAvailabilityCheckOfMs(
      activePods,
      minReadySeconds,
      nowMs,
      yield* currentTimeMs(),
    )
    return { requeueAfterMs: nextCheckMs ?? minReadySeconds * 1000 }
  }
  return
}

/**
 * Writes the status if it changed. After a refusal once more on the live object, with the
 * generation seen at first.
 */
function* writeStatus(
  replicaSet: ReplicaSet,
  status: Omit<ReplicaSetStatus, 'observedGeneration'>,
): Reconcile<Outcome<ReplicaSet>> {
  if (isStatusCurrent(replicaSet, status)) return { ok: true, object: replicaSet }
  const observedGeneration = replicaSet.metadata?.generation
  const next: ReplicaSetStatus = observedGeneration ? { ...status, observedGeneration } : status
  const updated = yield* write(updateStatus(resources.replicasets, { ...replicaSet, status: next }))
  if (updated.ok) return updated
  const { namespace, name } = replicaSet.metadata ?? {}
  const live = yield* getLive(resources.replicasets, namespace, name ?? '')
  if (!live.ok) return live
  return yield* write(updateStatus(resources.replicasets, { ...live.object, status: next }))
}
