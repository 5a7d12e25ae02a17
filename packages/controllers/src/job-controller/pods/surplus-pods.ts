/**
 * Which of a Job's active pods there should not be.
 * Contract: docs/behaviour/controllers/job-controller.md, Pod management 3.
 */
import { byString } from '@gyropilot/foundation'
import type { Job, Pod } from '@gyropilot/api'
import { sortForDeletion } from '../../workload-support/deletion-ranking.ts'
import { isIndexed } from '../job-state.ts'
import { completionIndexOf } from './pod-index.ts'

/** Pods without a place among the indexes, and as many more as there are too many; the first to go first. */
export function surplusPods(
  job: Job,
  active: readonly Pod[],
  tooMany: number,
  limit: number,
): readonly Pod[] {
  const misplaced = isIndexed(job) ? misplacedPods(job, active) : new Set<Pod>()
  if (misplaced.size === 0 && tooMany <= 0) return []
  const others = ranked(active.filter((pod) => !misplaced.has(pod)))
  const missing = Math.max(0, tooMany - misplaced.size)
  return [...ranked([...misplaced]), ...others.slice(0, missing)].slice(0, limit)
}

/** Those with no index of the Job, and of several with one index all but the best. */
function misplacedPods(job: Job, active: readonly Pod[]): Set<Pod> {
  const misplaced = new Set<Pod>()
  const sharing = new Map<number, Pod[]>()
  for (const pod of active) {
    const index = completionIndexOf(pod, job)
    if (index === undefined) misplaced.add(pod)
    else if (sharing.has(index)) sharing.get(index)!.push(pod)
    else sharing.set(index, [pod])
  }
  for (const pods of sharing.values()) {
    if (pods.length === 1) continue
    for (const pod of ranked(pods).slice(0, -1)) misplaced.add(pod)
  }
  return misplaced
}

/** Times are compared as they are, and equal pods by name: what is chosen must not hang on the order of a cache. */
function ranked(pods: readonly Pod[]): readonly Pod[] {
  const named = pods.toSorted(byString((pod) => pod.metadata?.name ?? ''))
  return sortForDeletion(named, { rankOf: () => 0, deletionCost: false })
}
