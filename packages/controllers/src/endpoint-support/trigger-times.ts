/**
 * When the change happened that a write of endpoints passes on: for measuring how long it took.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Status and conditions.
 */
import { findCondition, keyOf, parseTime } from '@gyropilot/api'
import type { Pod, Service } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'

export const TRIGGER_TIME_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time'

/** Lists and no map: one entry of it would cost several times as much, and pods come in the same order again and again. */
interface KnownTimes {
  readonly serviceMs: number
  readonly podNames: readonly string[]
  /** Of the pods, in their order. */
  readonly podMs: readonly number[]
}

/** Remembers per Service what was already passed on. In memory only: a restart starts over. */
export class TriggerTimes {
  readonly #known = new Map<string, KnownTimes>()

  /**
   * The earliest of the times that are new since the last call: creation of the Service, last
   * change of readiness of each pod. On the first call for a Service its creation. Undefined:
   * nothing is new. Call it on every sync, also of those that write nothing.
   */
  next(service: Service, pods: readonly Pod[]): string | undefined {
    const key = keyOf(service)
    const known = this.#known.get(key)
    const serviceMs = parseTime(service.metadata?.creationTimestamp) ?? -Infinity
    const podKnownMs = timesByPod(known)
    const podNames: string[] = []
    const podMs: number[] = []
    let earliestMs = Infinity
    for (const pod of pods) {
      const ready = findCondition(pod.status?.conditions, 'Ready')
      const timeMs = parseTime(ready?.lastTransitionTime)
      if (timeMs === undefined) continue
      const name = pod.metadata?.name ?? ''
      const knownMs = podKnownMs(name, podNames.length)
      podNames.push(name)
      podMs.push(timeMs)
      if (timeMs > knownMs) earliestMs = Math.min(earliestMs, timeMs)
    }
    if (serviceMs > (known?.serviceMs ?? -Infinity)) earliestMs = Math.min(earliestMs, serviceMs)
    this.#known.set(key, { serviceMs, podNames, podMs })
    const timeMs = known === undefined ? serviceMs : earliestMs
    return Number.isFinite(timeMs) ? formatTime(timeMs) : undefined
  }

  forget(key: string): void {
    this.#known.delete(key)
  }
}

/** What was known of a pod, which is likely to be at `place`; -Infinity: nothing. */
function timesByPod(known: KnownTimes | undefined): (name: string, place: number) => number {
  if (known === undefined) return () => -Infinity
  const { podNames, podMs } = known
  let places: Map<string, number> | undefined
  return (name, place) => {
    if (podNames[place] === name) return podMs[place]!
    places ??= new Map(podNames.map((podName, index) => [podName, index]))
    return podMs[places.get(name) ?? -1] ?? -Infinity
  }
}

/** The annotations with the time of the change, or without one when nothing is new. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  triggerTime: string | undefined,
): Readonly<Record<string, string>> {
  const { [TRIGGER_TIME_ANNOTATION]: _, ...others } = annotations ?? {}
  return triggerTime === undefined ? others : { ...others, [TRIGGER_TIME_ANNOTATION]: triggerTime }
}
