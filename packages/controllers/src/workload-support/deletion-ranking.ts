/**
 * Which of a controller's active pods is given up first when there are too many.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Deletion ranking.
 */
import { isPodReady, parseTime, podReadySinceMs } from '@gyropilot/api'
import type { ContainerStatus, Pod } from '@gyropilot/api'

const DELETION_COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost'

const INT32_MIN = -2_147_483_648
const INT32_MAX = 2_147_483_647
const NANOSECONDS_PER_MS = 1e6

export interface DeletionRanking {
  /** Active pods of related sets on the pod's node: the more neighbours, the sooner it goes. */
  rankOf(pod: Pod): number
  /** One moment for the whole sort. Without it times are compared as they are, the later first. */
  readonly nowMs?: number
  /** Feature gate PodDeletionCost. Default true. */
  readonly deletionCost?: boolean
}

/** The pods, the first to delete first. Equal pods keep their order. */
export function sortForDeletion(pods: readonly Pod[], ranking: DeletionRanking): readonly Pod[] {
  return pods.toSorted((left, right) => compareForDeletion(left, right, ranking))
}

/** Negative: `left` is deleted before `right`. */
export function compareForDeletion(left: Pod, right: Pod, ranking: DeletionRanking): number {
  // 1. Without a node before with one.
  const unassigned = Number(Boolean(left.spec?.nodeName)) - Number(Boolean(right.spec?.nodeName))
  if (unassigned !== 0) return unassigned
  // 2. Pending before Unknown before Running.
  const phase = phaseOrder(left) - phaseOrder(right)
  if (phase !== 0) return phase
  // 3. Not ready before ready.
  const ready = Number(isPodReady(left)) - Number(isPodReady(right))
  if (ready !== 0) return ready
  // 4. Lower deletion cost first.
  if (ranking.deletionCost !== false) {
    const cost = deletionCostOf(left) - deletionCostOf(right)
    if (cost !== 0) return cost
  }
  // 5. More neighbours first.
  const rank = ranking.rankOf(right) - ranking.rankOf(left)
  if (rank !== 0) return rank
  // 6. Ready for a shorter time first; those that are not ready have no such time.
  const since = compareAges(
    podReadySinceMs(left),
    podReadySinceMs(right),
    left,
    right,
    ranking.nowMs,
  )
  if (since !== 0) return since
  // 7. More restarts first, those of sidecars last.
  const restarts = maximumRestarts(right) - maximumRestarts(left)
  if (restarts !== 0) return restarts
  const sidecarRestarts = maximumSidecarRestarts(right) - maximumSidecarRestarts(left)
  if (sidecarRestarts !== 0) return sidecarRestarts
  // 8. Created later first.
  return compareAges(
    parseTime(left.metadata?.creationTimestamp),
    parseTime(right.metadata?.creationTimestamp),
    left,
    right,
    ranking.nowMs,
  )
}

function phaseOrder(pod: Pod): number {
  const phase = pod.status?.phase
  return phase === 'Running' ? 2 : phase === 'Unknown' ? 1 : 0
}

/**
 * The annotation's value; 0 when it is missing or no int32 in plain decimal (`+10` and `007` are
 * not).
 */
export function deletionCostOf(pod: Pod): number {
  const text = pod.metadata?.annotations?.[DELETION_COST_ANNOTATION]
  if (text === undefined || !/^(0|[1-9]\d*|-\d+)$/.test(text)) return 0
  const cost = Number(text)
  return cost >= INT32_MIN && cost <= INT32_MAX ? cost : 0
}

/**
 * With a moment to reckon from, ages are compared by their order of magnitude, so that the victims
 * of a scale-down are spread over all ages.
 */
function compareAges(
  leftMs: number | undefined,
  rightMs: number | undefined,
  left: Pod,
  right: Pod,
  nowMs: number | undefined,
): number {
  if (leftMs === rightMs) return 0
  if (leftMs === undefined) return -1
  if (rightMs === undefined) return 1
  if (nowMs === undefined) return rightMs - leftMs
  const buckets = ageBucket(nowMs - leftMs) - ageBucket(nowMs - rightMs)
  if (buckets !== 0) return buckets
  const leftUid = left.metadata?.uid ?? ''
  const rightUid = right.metadata?.uid ?? ''
  return leftUid < rightUid ? -1 : leftUid > rightUid ? 1 : 0
}

/** trunc(log2(age in nanoseconds)), -1 for no age. */
export function ageBucket(ageMs: number): number {
  return ageMs <= 0 ? -1 : Math.trunc(Math.log2(ageMs * NANOSECONDS_PER_MS))
}

function maximumRestarts(pod: Pod): number {
  return maximum(pod.status?.containerStatuses)
}

function maximumSidecarRestarts(pod: Pod): number {
  const sidecars = new Set(
    (pod.spec?.initContainers ?? [])
      .filter((container) => container.restartPolicy === 'Always')
      .map((container) => container.name),
  )
  return maximum(pod.status?.initContainerStatuses?.filter((status) => sidecars.has(status.name)))
}

function maximum(statuses: readonly ContainerStatus[] | undefined): number {
  return (statuses ?? []).reduce((most, status) => Math.max(most, status.restartCount ?? 0), 0)
}
