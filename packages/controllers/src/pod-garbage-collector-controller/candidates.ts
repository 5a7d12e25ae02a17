/**
 * Which pods of a scan may have to go, and in which order.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md, Sync.
 */
import { findCondition, isTerminating } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'

/** Any value, any effect. */
export const OUT_OF_SERVICE_TAINT = 'node.kubernetes.io/out-of-service'

export interface Candidates {
  readonly finished: readonly Pod[]
  /** Terminating, on a node that was declared out of service. */
  readonly outOfService: readonly Pod[]
  /** By the name of a node that the cache does not have. */
  readonly orphans: ReadonlyMap<string, readonly Pod[]>
  /** Terminating, and no node ever took them. */
  readonly unscheduled: readonly Pod[]
}

/** One pass over all pods. A pod may be a candidate in several ways. */
export function candidatesOf(pods: readonly Pod[], nodes: ReadonlyMap<string, Node>): Candidates {
  const finished: Pod[] = []
  const outOfService: Pod[] = []
  const unscheduled: Pod[] = []
  const orphans = new Map<string, Pod[]>()
  for (const pod of pods) {
    if (isOver(pod)) finished.push(pod)
    const nodeName = pod.spec?.nodeName ?? ''
    if (nodeName === '') {
      if (isTerminating(pod)) unscheduled.push(pod)
      continue
    }
    const node = nodes.get(nodeName)
    if (node === undefined) {
      const others = orphans.get(nodeName)
      if (others === undefined) orphans.set(nodeName, [pod])
      else others.push(pod)
    } else if (isTerminating(pod) && isOutOfService(node)) {
      outOfService.push(pod)
    }
  }
  return { finished, outOfService, orphans, unscheduled }
}

/** The finished pods beyond the threshold, those first that are missed least. */
export function beyondThreshold(finished: readonly Pod[], threshold: number): readonly Pod[] {
  if (threshold <= 0 || finished.length <= threshold) return []
  return inDeletionOrder(finished).slice(0, finished.length - threshold)
}

/** Evicted pods first, then the oldest, then by name alone. */
export function inDeletionOrder(pods: readonly Pod[]): readonly Pod[] {
  return pods.toSorted(
    (left, right) =>
      Number(isEvicted(right)) - Number(isEvicted(left)) ||
      compareText(left.metadata?.creationTimestamp, right.metadata?.creationTimestamp) ||
      compareText(left.metadata?.name, right.metadata?.name),
  )
}

/** A pod without a phase is over too, as upstream counts it. */
function isOver(pod: Pod): boolean {
  const phase = pod.status?.phase
  return phase !== 'Pending' && phase !== 'Running' && phase !== 'Unknown'
}

function isEvicted({ status }: Pod): boolean {
  return status?.phase === 'Failed' && status.reason === 'Evicted'
}

function isOutOfService({ spec, status }: Node): boolean {
  const isReady = findCondition(status?.conditions, 'Ready')?.status === 'True'
  return !isReady && (spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE_TAINT)
}

/** RFC 3339 of whole seconds in UTC, as creation times are, sorts as text. */
function compareText(left = '', right = ''): number {
  return left < right ? -1 : left > right ? 1 : 0
}
