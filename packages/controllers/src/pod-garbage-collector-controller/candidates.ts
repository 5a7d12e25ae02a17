/**
 * Which pods of a scan may have to go, and in which order.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md, Sync.
 */
import { findCondition, isTerminating } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'

/** Any value, any effect. */
export const OUT_OF_SERVICE_TAINT = 'node.kubernetes.io/out-of-service'

/** What one pass over all pods finds. A pod may be a candidate in several ways. */
export class Candidates {
  readonly finished: Pod[] = []
  /** Terminating, on a node that was declared out of service. */
  readonly outOfService: Pod[] = []
  /** By the name of a node that the cache does not have. */
  readonly orphans = new Map<string, Pod[]>()
  /** Terminating, and no node ever took them. */
  readonly unscheduled: Pod[] = []
  readonly #nodes: ReadonlyMap<string, Node>

  constructor(nodes: ReadonlyMap<string, Node>) {
    this.#nodes = nodes
  }

  look(pod: Pod): void {
    if (isOver(pod)) this.finished.push(pod)
    const nodeName = pod.spec?.nodeName ?? ''
    if (nodeName === '') {
      if (isTerminating(pod)) this.unscheduled.push(pod)
      return
    }
    const node = this.#nodes.get(nodeName)
    if (node === undefined) {
      const others = this.orphans.get(nodeName)
      if (others === undefined) this.orphans.set(nodeName, [pod])
      else others.push(pod)
    } else if (isTerminating(pod) && isOutOfService(node)) {
      this.outOfService.push(pod)
    }
  }
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
