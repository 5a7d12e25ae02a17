/**
 * Status of an owner of replicas.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Status and conditions.
 */
import {
  findCondition,
  isPodAvailable,
  isPodReady,
  replaceCondition,
  withoutCondition,
} from '@gyropilot/api'
import type { Pod, ReplicaSetCondition, ReplicaSetStatus } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { messageOf } from '../aggregate-error.ts'
import type { ReplicaOwner } from './replica-owner.ts'

const REPLICA_FAILURE = 'ReplicaFailure'

interface StatusInput {
  readonly owner: ReplicaOwner
  readonly activePods: readonly Pod[]
  /** Undefined: not a part of the status. */
  readonly terminatingReplicas: number | undefined
  readonly manageError?: unknown
  readonly nowMs: number
}

/** What the pods say, without observedGeneration, which only a write sets. */
export function statusOf(input: StatusInput): Omit<ReplicaSetStatus, 'observedGeneration'> {
  const { owner, activePods, nowMs, terminatingReplicas } = input
  const minReadySeconds = owner.spec?.minReadySeconds ?? 0
  const templateLabels = Object.entries(owner.spec?.template?.metadata?.labels ?? {})
  let fullyLabeled = 0
  let ready = 0
  let available = 0
  // Once over all of them, and each is asked once: there may be thousands, at every change of one.
  for (const pod of activePods) {
    if (hasLabels(pod, templateLabels)) fullyLabeled++
    if (!isPodReady(pod)) continue
    ready++
    if (minReadySeconds === 0 || isPodAvailable(pod, minReadySeconds, nowMs)) available++
  }
  const conditions = conditionsOf(input)
  return {
    replicas: activePods.length,
    ...nonZero('fullyLabeledReplicas', fullyLabeled),
    ...nonZero('readyReplicas', ready),
    ...nonZero('availableReplicas', available),
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    ...(conditions.length === 0 ? {} : { conditions }),
  }
}

/**
 * The condition appears with the first error and goes with the first success; in between it is left
 * alone.
 */
function conditionsOf({
  owner,
  activePods,
  manageError,
  nowMs,
}: StatusInput): readonly ReplicaSetCondition[] {
  const conditions = owner.status?.conditions ?? []
  const failure = findCondition(conditions, REPLICA_FAILURE)
  if (manageError === undefined)
    return failure === undefined ? conditions : withoutCondition(conditions, REPLICA_FAILURE)
  if (failure !== undefined) return conditions
  const difference = activePods.length - (owner.spec?.replicas ?? 1)
  const reason = difference < 0 ? 'FailedCreate' : difference > 0 ? 'FailedDelete' : undefined
  return replaceCondition<ReplicaSetCondition>(conditions, {
    type: REPLICA_FAILURE,
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    ...(reason === undefined ? {} : { reason }),
    message: messageOf(manageError),
  })
}

/** Whether the status is as it should be, so that nothing needs to be written. */
export function isStatusCurrent(
  owner: ReplicaOwner,
  next: Omit<ReplicaSetStatus, 'observedGeneration'>,
): boolean {
  const current = owner.status
  return (
    (current?.replicas ?? 0) === next.replicas &&
    (current?.fullyLabeledReplicas ?? 0) === (next.fullyLabeledReplicas ?? 0) &&
    (current?.readyReplicas ?? 0) === (next.readyReplicas ?? 0) &&
    (current?.availableReplicas ?? 0) === (next.availableReplicas ?? 0) &&
    current?.terminatingReplicas === next.terminatingReplicas &&
    sameConditions(current?.conditions ?? [], next.conditions ?? []) &&
    (owner.metadata?.generation ?? 0) === (current?.observedGeneration ?? 0)
  )
}

function sameConditions(
  left: readonly ReplicaSetCondition[],
  right: readonly ReplicaSetCondition[],
): boolean {
  return (
    left.length === right.length && left.every((condition, index) => condition === right[index])
  )
}

function hasLabels(pod: Pod, labels: readonly (readonly [string, string])[]): boolean {
  return labels.every(([key, value]) => pod.metadata?.labels?.[key] === value)
}

/** Zero counters are absent on the wire. */
function nonZero<Name extends string>(
  name: Name,
  value: number,
): { readonly [name in Name]?: number } {
  return value === 0 ? {} : ({ [name]: value } as { readonly [name in Name]?: number })
}
