/**
 * Pods that were evicted and are awaited to go: status.disruptedPods, which the eviction API fills.
 * Contract: docs/behaviour/controllers/disruption-controller.md, Disrupted map.
 */
import { isPodReady, parseTime } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { DELETION_TIMEOUT_MS } from './config.ts'

/** Name of the pod to the time of its eviction. */
export type DisruptedPods = Readonly<Record<string, string>>

interface Disrupted {
  /** Entries of pods that are there, are not on their way out, and still may be. */
  readonly kept: DisruptedPods
  /** Pods that should be gone and are not. */
  readonly overdue: readonly Pod[]
  /** When the first of the kept entries will be overdue. */
  readonly recheckAtMs: number | undefined
}

export function disruptedPods(
  known: DisruptedPods | null | undefined,
  pods: readonly Pod[],
  nowMs: number,
): Disrupted {
  const kept: Record<string, string> = {}
  const overdue: Pod[] = []
  let recheckAtMs: number | undefined
  for (const pod of pods) {
    const name = pod.metadata?.name ?? ''
    const since = entryOf(known, name)
    if (since === undefined || pod.metadata?.deletionTimestamp !== undefined) continue
    const expectedMs = goneByMs(since)
    if (expectedMs < nowMs) {
      overdue.push(pod)
      continue
    }
    kept[name] = since
    // At that very time it is not overdue yet: looked at then, it would be looked at again at once, for as long as the time stays.
    recheckAtMs = Math.min(recheckAtMs ?? Infinity, expectedMs + 1)
  }
  return { kept, overdue, recheckAtMs }
}

/** Ready, not on its way out, and not awaited to be. The phase does not count. */
export function countHealthy(
  pods: readonly Pod[],
  disrupted: DisruptedPods,
  nowMs: number,
): number {
  const isHealthy = (pod: Pod): boolean => {
    if (pod.metadata?.deletionTimestamp !== undefined) return false
    const since = entryOf(disrupted, pod.metadata?.name ?? '')
    if (since !== undefined && goneByMs(since) > nowMs) return false
    return isPodReady(pod)
  }
  return pods.filter(isHealthy).length
}

/** Names are the users': a pod may be called `constructor`. */
function entryOf(entries: DisruptedPods | null | undefined, name: string): string | undefined {
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined
}

function goneByMs(since: string): number {
  return (parseTime(since) ?? -Infinity) + DELETION_TIMEOUT_MS
}
