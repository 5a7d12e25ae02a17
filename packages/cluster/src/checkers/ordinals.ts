/**
 * Never two pods of one ordinal, no pod of an ordinal that nobody asked for, and in an ordered set no pod before those below it
 * were there. What was asked for is judged over a while: a controller may learn of a change late.
 */
import type { Pod, StatefulSet } from '@gyropilot/api'
import { controllerOf, resources } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Objects } from '../simulated/objects.ts'
import type { Report } from './violation.ts'

/** Longer than any single disturbance of a fault plan. */
const WINDOW_MS = 120_000

interface Range {
  readonly start: number
  readonly end: number
  untilMs: number
}

export function ordinals(report: Report, clock: Clock, objects: Objects): ClusterObserver {
  const ranges = new Map<string, Range[]>()
  /** When a pod of this set and ordinal was last there. */
  const lastSeenMs = new Map<string, number>()
  /** A leader that starts from an old list cannot know of what came later. */
  let staleListMs = -Infinity

  function learn(set: StatefulSet): void {
    const nowMs = clock.monotonicMs()
    const start = set.spec?.ordinals?.start ?? 0
    const end = start + (set.spec?.replicas ?? 1)
    const uid = set.metadata?.uid ?? ''
    const known = (ranges.get(uid) ?? []).filter(({ untilMs }) => untilMs > nowMs)
    const last = known.at(-1)
    if (last !== undefined && last.untilMs === Infinity) last.untilMs = nowMs + WINDOW_MS
    ranges.set(uid, [...known, { start, end, untilMs: Infinity }])
  }

  /** The first ordinals of what was asked for with this ordinal in it. */
  function startsWith(uid: string, ordinal: number): readonly number[] {
    const nowMs = clock.monotonicMs()
    return (ranges.get(uid) ?? [])
      .filter(({ start, end, untilMs }) => untilMs > nowMs && ordinal >= start && ordinal < end)
      .map(({ start }) => start)
  }

  function checkCreated(pod: Pod): void {
    const { namespace, name, uid } = pod.metadata ?? {}
    const owner = setOf(pod)
    const ordinal = ordinalOf(pod)
    if (owner === undefined || clock.monotonicMs() - staleListMs < WINDOW_MS) return
    const siblings = objects
      .all(resources.pods, namespace)
      .filter((other) => setOf(other)?.name === owner.name && other.metadata?.uid !== uid)
    for (const other of siblings)
      if (ordinalOf(other) === ordinal)
        report('ordinals', `pod ${namespace}/${name} was made beside ${other.metadata?.name}`)
    if (startsWith(owner.uid, ordinal).length === 0)
      report('ordinals', `pod ${namespace}/${name} was made and its ordinal was not asked for`)
    const set = objects.find(resources.statefulsets, namespace, owner.name)
    if (set?.metadata?.uid === owner.uid && set.spec?.podManagementPolicy === 'OrderedReady')
      checkOrder(set, ordinal, siblings)
  }

  function checkOrder(set: StatefulSet, ordinal: number, siblings: readonly Pod[]): void {
    const present = new Set(siblings.map(ordinalOf))
    const { uid, namespace, name } = set.metadata ?? {}
    const start = Math.max(0, ...startsWith(uid ?? '', ordinal))
    for (let below = start; below < ordinal; below += 1) {
      const seenMs = lastSeenMs.get(`${uid}/${below}`) ?? -Infinity
      if (!present.has(below) && clock.monotonicMs() - seenMs > WINDOW_MS)
        report('ordinals', `pod ${ordinal} of ${namespace}/${name} was made without pod ${below}`)
    }
  }

  return {
    answeredStale({ verb, collection }) {
      if (verb === 'list' && (collection === 'pods' || collection === 'statefulsets.apps'))
        staleListMs = clock.monotonicMs()
    },
    committed({ type, collection, object }) {
      if (collection === 'statefulsets.apps' && type !== 'deleted') learn(object as StatefulSet)
      if (collection !== 'pods') return
      const pod = object as Pod
      if (type === 'created') checkCreated(pod)
      const uid = setOf(pod)?.uid
      if (uid !== undefined) lastSeenMs.set(`${uid}/${ordinalOf(pod)}`, clock.monotonicMs())
    },
  }
}

function setOf(pod: Pod): { readonly name: string; readonly uid: string } | undefined {
  const owner = controllerOf(pod)
  return owner?.kind === 'StatefulSet' ? owner : undefined
}

/** By its number, so that `db-1` and `db-01` are two of one. */
function ordinalOf(pod: Pod): number {
  return Number(/-([0-9]+)$/.exec(pod.metadata?.name ?? '')?.[1] ?? Number.NaN)
}
