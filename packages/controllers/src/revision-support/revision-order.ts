/**
 * The order of a history and its length.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, ControllerRevision history.
 */
import { compareTimes } from '@gyropilot/api'
import type { ControllerRevision } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { exactInteger } from '@gyropilot/foundation/exact-json'

/** Of any int64: docs/decisions/0012-exact-integers.md. */
function byNumber(left: number, right: number): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

/** Oldest first: by number, then creation, then name. */
function compareRevisions(left: ControllerRevision, right: ControllerRevision): number {
  return (
    byNumber(left.revision, right.revision) ||
    compareTimes(left.metadata?.creationTimestamp, right.metadata?.creationTimestamp) ||
    compareStrings(left.metadata?.name ?? '', right.metadata?.name ?? '')
  )
}

export function sortedRevisions(revisions: readonly ControllerRevision[]): ControllerRevision[] {
  return revisions.toSorted(compareRevisions)
}

/** One more than the highest; the first is 1. */
export function nextRevisionNumber(revisions: readonly ControllerRevision[]): number {
  const highest = revisions.reduce((most, { revision }) => (revision > most ? revision : most), 0)
  return exactInteger(BigInt(highest) + 1n) as number
}

interface HistoryLimit {
  /** spec.revisionHistoryLimit; below 0 nothing is deleted. */
  readonly limit: number
  /** In use: never deleted. */
  isLive(revision: ControllerRevision): boolean
  /** Whether revisions in use take up room under the limit, as those of DaemonSets do. */
  readonly liveCount?: boolean
}

/** The oldest that must go so that `limit` remain; `revisions` are sorted. */
export function surplusRevisions(
  revisions: readonly ControllerRevision[],
  { limit, isLive, liveCount = false }: HistoryLimit,
): readonly ControllerRevision[] {
  if (limit < 0) return []
  const unused = revisions.filter((revision) => !isLive(revision))
  const surplus = (liveCount ? revisions : unused).length - limit
  return unused.slice(0, Math.max(0, surplus))
}
