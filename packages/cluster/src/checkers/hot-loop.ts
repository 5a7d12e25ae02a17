import type { Clock } from '@gyropilot/foundation'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Report } from './violation.ts'

const MINUTE_MS = 60_000
const MOST_PER_MINUTE = 30
/** Of these, changes are no news: they come all the time. */
const HEARTBEATS = new Set(['leases.coordination.k8s.io', 'nodes'])

/**
 * A key that is worked on again and again although nothing in the cluster changes and nobody is told of anything. Late events
 * are news too: a process that was asleep is told of all that it missed, one after the other.
 */
export function hotLoop(report: Report, clock: Clock): ClusterObserver {
  let quietSinceMs = 0
  const counts = new Map<string, { sinceMs: number; count: number }>()
  const onNews = (collection: string, isChange: boolean): void => {
    if (isChange && HEARTBEATS.has(collection)) return
    quietSinceMs = clock.monotonicMs()
    counts.clear()
  }
  return {
    committed: ({ collection, type }) => onNews(collection, type === 'updated'),
    delivered: ({ collection }, { type }) => onNews(collection, type === 'MODIFIED'),
    reconciled(controller, key) {
      const nowMs = clock.monotonicMs()
      const id = `${controller} ${key}`
      const entry = counts.get(id)
      if (entry === undefined || nowMs - entry.sinceMs > MINUTE_MS) {
        counts.set(id, { sinceMs: nowMs, count: 1 })
        return
      }
      entry.count++
      if (entry.count === MOST_PER_MINUTE + 1)
        report(
          'hot loop',
          `${id} was reconciled ${entry.count} times within a minute, nothing has changed for ${Math.round(nowMs - quietSinceMs)} ms`,
        )
    },
  }
}
