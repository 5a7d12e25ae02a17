/** What a pod's status says. Contract: docs/behaviour/controllers/shared-controller-utils.md, Pod predicates. */
import { findCondition } from '../conditions.ts'
import { isTerminating } from '../ownership/finalizers.ts'
import type { Pod } from '../generated/core-v1.ts'
import { parseTime } from '../values/time.ts'

/** Phase Succeeded or Failed: the pod will not run again. */
export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Neither finished nor marked for deletion: counts towards the replicas wanted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && !isTerminating(pod)
}

/** Marked for deletion and not finished. */
export function isPodTerminating(pod: Pod): boolean {
  return isTerminating(pod) && !isPodFinished(pod)
}

export function isPodReady(pod: Pod): boolean {
  return findCondition(pod.status?.conditions, 'Ready')?.status === 'True'
}

/** Since when the pod is ready; undefined when it is not, or when the condition has no time. */
export function podReadySinceMs(pod: Pod): number | undefined {
  const ready = findCondition(pod.status?.conditions, 'Ready')
  return ready?.status === 'True' ? parseTime(ready.lastTransitionTime) : undefined
}

/** Ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  if (!isPodReady(pod)) return false
  if (minReadySeconds === 0) return true
  const sinceMs = podReadySinceMs(pod)
  return sinceMs !== undefined && sinceMs + minReadySeconds * 1000 <= nowMs
}

/** Milliseconds until a ready pod becomes available by time alone; undefined when time will not change anything. */
export function nextAvailabilityCheckMs(
  pod: Pod,
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  const sinceMs = podReadySinceMs(pod)
  if (minReadySeconds <= 0 || sinceMs === undefined) return undefined
  const delayMs = sinceMs + minReadySeconds * 1000 - nowMs
  return delayMs > 0 ? delayMs : undefined
}

/**
 * The delay after which to look again at pods that wait for minReadySeconds. The pod is chosen by the time the status was computed
 * at, its delay is taken from the clock now and is never negative. Undefined: no pod waits.
 */
export function nextAvailabilityCheckOfMs(
  pods: readonly Pod[],
  minReadySeconds: number,
  statusTimeMs: number,
  nowMs: number,
): number | undefined {
  let soonest: Pod | undefined
  let soonestMs = Infinity
  for (const pod of pods) {
    const delayMs = nextAvailabilityCheckMs(pod, minReadySeconds, statusTimeMs)
    if (delayMs === undefined || delayMs >= soonestMs) continue
    soonest = pod
    soonestMs = delayMs
  }
  if (soonest === undefined) return undefined
  return nextAvailabilityCheckMs(soonest, minReadySeconds, nowMs) ?? 0
}
