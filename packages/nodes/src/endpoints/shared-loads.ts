/**
 * Who has a load together: the running pods of one controller, wherever they run. Kept up to date by what is told of pods, so
 * that all nodes, also those of other processes, come to the same. Contract: docs/behaviour/simulation/kubelet.md, Usage.
 */
import { controllerOf, parseTime } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { sharedLoadText } from '../behavior/annotations.ts'

const TEMPLATE_HASH = 'pod-template-hash'

export interface Sharing {
  readonly pods: number
  /** When the first of those pods started that the load is written on. */
  readonly sinceMs: number
}

interface Group {
  /** What is written on each of its running pods, by UID. */
  readonly texts: Map<string, string>
  /** By what is written. It stays while there is such a pod, also when the first one has gone. */
  readonly sinceMs: Map<string, number>
}

export class SharedLoads {
  readonly #groups = new Map<string, Group>()

  /** A pod was seen, as new or as changed. */
  seen(pod: Pod): void {
    const text = sharedLoadText(pod)
    if (text === undefined || !isRunning(pod)) {
      this.gone(pod)
      return
    }
    const group = this.#groups.get(groupOf(pod)) ?? { texts: new Map(), sinceMs: new Map() }
    this.#groups.set(groupOf(pod), group)
    group.texts.set(pod.metadata?.uid ?? '', text)
    const startedMs = parseTime(pod.status?.startTime) ?? 0
    group.sinceMs.set(text, Math.min(group.sinceMs.get(text) ?? Infinity, startedMs))
  }

  gone(pod: Pod): void {
    const group = this.#groups.get(groupOf(pod))
    const text = group?.texts.get(pod.metadata?.uid ?? '')
    if (group === undefined || text === undefined) return
    group.texts.delete(pod.metadata?.uid ?? '')
    if (![...group.texts.values()].includes(text)) group.sinceMs.delete(text)
    if (group.texts.size === 0) this.#groups.delete(groupOf(pod))
  }

  /** Undefined for a pod that has no part in it, such as one that is on its way out. */
  of(pod: Pod): Sharing | undefined {
    const group = this.#groups.get(groupOf(pod))
    const text = group?.texts.get(pod.metadata?.uid ?? '')
    if (group === undefined || text === undefined) return undefined
    return { pods: group.texts.size, sinceMs: group.sinceMs.get(text)! }
  }
}

function isRunning({ metadata, status }: Pod): boolean {
  return status?.phase === 'Running' && metadata?.deletionTimestamp === undefined
}

/** ReplicaSets of one Deployment are one: their names differ in the hash of their template alone. */
function groupOf(pod: Pod): string {
  const { namespace, uid, labels } = pod.metadata ?? {}
  const owner = controllerOf(pod)
  if (owner === undefined) return `${uid}`
  const hash = `-${labels?.[TEMPLATE_HASH]}`
  const name = owner.name.endsWith(hash) ? owner.name.slice(0, -hash.length) : owner.name
  return `${owner.kind}/${namespace}/${name}`
}
