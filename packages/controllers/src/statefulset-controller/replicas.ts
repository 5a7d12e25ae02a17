/**
 * The pods of a set in their places.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Reconcile pods.
 */
import { isPodAvailable, isPodReady, isTerminating } from '@gyropilot/api'
import type { Pod, StatefulSet } from '@gyropilot/api'
import { isInRange, ordinalOf, startOrdinal } from './pod-identity.ts'

export interface Replicas {
  /** At index ordinal - start; those that are missing are there as they will be created, without a phase. */
  readonly inRange: Pod[]
  /** Outside the range, highest ordinal first. */
  readonly condemned: readonly Pod[]
}

/** `missing` makes the pod of an ordinal that has none. Pods without an ordinal have no place. */
export function arrange(
  set: StatefulSet,
  pods: readonly Pod[],
  missing: (ordinal: number) => Pod,
): Replicas {
  const start = startOrdinal(set)
  const places: (Pod | undefined)[] = Array.from({ length: set.spec?.replicas ?? 1 })
  const condemned: Pod[] = []
  for (const pod of pods) {
    const ordinal = ordinalOf(pod)
    if (isInRange(set, ordinal)) places[ordinal - start] = pod
    else if (ordinal >= 0) condemned.push(pod)
  }
  return {
    inRange: places.map((pod, index) => pod ?? missing(start + index)),
    condemned: condemned.toSorted((left, right) => ordinalOf(right) - ordinalOf(left)),
  }
}

/** What the server knows of: a pod that is yet to be created has no phase. */
export function isCreated(pod: Pod): boolean {
  return (pod.status?.phase ?? '') !== ''
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod)
}

export function isUnavailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  return isTerminating(pod) || !isPodAvailable(pod, minReadySeconds, nowMs)
}

/** The lowest in range that is unavailable, else the lowest condemned one. */
export function firstUnavailable(
  { inRange, condemned }: Replicas,
  minReadySeconds: number,
  nowMs: number,
): Pod | undefined {
  const isOut = (pod: Pod): boolean => isUnavailable(pod, minReadySeconds, nowMs)
  return inRange.find(isOut) ?? condemned.findLast(isOut)
}
