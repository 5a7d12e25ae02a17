/**
 * One sync of an owner of replicas. Step numbers are those of
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
import type { LabelQuery, Pod, ReplicaSetStatus, ResourceType } from '@gyropilot/api'
import { currentTimeMs, getLive, updateStatus, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { claim } from '../claim.ts'
import { selectorQuery } from '../label-selector.ts'
import { manageReplicas } from './manage-replicas.ts'
import type { ManageReplicasSettings } from './manage-replicas.ts'
import type { ObservedReplicas } from './observe.ts'
import type { ReplicaOwner, ReplicaOwnerKind } from './replica-owner.ts'
import { isStatusCurrent, statusOf } from './status.ts'

export interface ReplicaSettings extends ManageReplicasSettings {
  /** Whether the status counts terminating pods. */
  readonly terminatingReplicas: boolean
  onInvalidSelector?(owner: ReplicaOwner, error: unknown): void
}

export function* reconcile<Owner extends ReplicaOwner>(
  observed: ObservedReplicas<Owner>,
  kind: ReplicaOwnerKind<Owner>,
  settings: ReplicaSettings,
): Reconcile {
  const { owner, expectationsMet, pods, restMs = 0 } = observed
  if (restMs > 0) return { requeueAfterMs: restMs }
  // 4. A selector that cannot be understood will not get better by a retry.
  let query: LabelQuery
  try {
    query = selectorQuery(kind.selectorOf(owner))
  } catch (error) {
    settings.onInvalidSelector?.(owner, error)
    return
  }
  const matches = (pod: Pod): boolean => query.matches(pod.metadata?.labels)
  // 5.
  const claimed = yield* claim(
    { owner, ownerType: kind.type, type: resources.pods, matches },
    pods.filter(isPodActive),
  )
  if (claimed.error !== undefined) return { error: claimed.error }
  const activePods = claimed.objects
  // 6.
  const terminatingReplicas = settings.terminatingReplicas
    ? pods.filter((pod) => isPodTerminating(pod) && isControlledBy(pod, owner) && matches(pod))
        .length
    : undefined
  // 7.
  let manageError: unknown
  if (expectationsMet && owner.metadata?.deletionTimestamp === undefined) {
    manageError = yield* manageReplicas(observed, activePods, kind, settings)
  }
  // 8.
  const nowMs = yield* currentTimeMs()
  const status = statusOf({ owner, activePods, terminatingReplicas, manageError, nowMs })
  const updated = yield* writeStatus(kind.type, owner, status)
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
function* writeStatus<Owner extends ReplicaOwner>(
  type: ResourceType<Owner>,
  owner: Owner,
  status: Omit<ReplicaSetStatus, 'observedGeneration'>,
): Reconcile<Outcome<Owner>> {
  if (isStatusCurrent(owner, status)) return { ok: true, object: owner }
  const observedGeneration = owner.metadata?.generation
  const next: ReplicaSetStatus = observedGeneration ? { ...status, observedGeneration } : status
  const updated = yield* write(updateStatus(type, { ...owner, status: next }))
  if (updated.ok) return updated
  const { namespace, name, uid } = owner.metadata ?? {}
  const live = yield* getLive(type, namespace, name ?? '')
  if (!live.ok) return live
  // A namesake would have a generation as observed that it has not come to.
  if (live.object.metadata?.uid !== uid) return updated
  return yield* write(updateStatus(type, { ...live.object, status: next }))
}
