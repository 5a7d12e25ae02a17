/** What is remembered of an autoscaler between syncs: in memory only, as upstream, and by elapsed times. Pure. */

export interface Recommendation {
  readonly replicas: number
  readonly timeMs: number
}

/** Replicas that came or went at a moment. */
export interface ScaleEvent {
  readonly change: number
  readonly timeMs: number
}

export interface ScalingHistory {
  readonly recommendations: readonly Recommendation[]
  readonly scaledUp: readonly ScaleEvent[]
  readonly scaledDown: readonly ScaleEvent[]
}

export const NO_HISTORY: ScalingHistory = { recommendations: [], scaledUp: [], scaledDown: [] }

/** In the place of the last entry that `isOver`, or at the end. */
export function remembered<T>(
  entries: readonly T[],
  entry: T,
  isOver: (known: T) => boolean,
): readonly T[] {
  const place = entries.findLastIndex(isOver)
  return place === -1 ? [...entries, entry] : entries.with(place, entry)
}

/** Replicas that came or went within the last `periodSeconds`. */
export function changeWithin(
  events: readonly ScaleEvent[],
  periodSeconds: number,
  nowMs: number,
): number {
  const sinceMs = nowMs - periodSeconds * 1_000
  return events.reduce((sum, { change, timeMs }) => (timeMs > sinceMs ? sum + change : sum), 0)
}
