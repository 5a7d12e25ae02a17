/** Which pods were promised room on which node: by status.nominatedNodeName, and before that is written. Pure. */
import type { Pod } from '@gyropilot/api'

const NOBODY: readonly Pod[] = []

export class Nominations {
  /** With the promise in their status, by node and uid. */
  readonly #byNode = new Map<string, Map<string, Pod>>()
  readonly #nodeOf = new Map<string, string>()
  #aside: ReadonlySet<string> = new Set()
  readonly #isGated: (pod: Pod) => boolean

  /** `isGated`: a pod that is not to be tried, which holds no room meanwhile. */
  constructor(isGated: (pod: Pod) => boolean = () => false) {
    this.#isGated = isGated
  }

  get isEmpty(): boolean {
    return this.#nodeOf.size === 0
  }

  promise(pod: Pod, nodeName: string): void {
    const status = { ...pod.status, nominatedNodeName: nodeName }
    this.#keep({ ...pod, status }, nodeName)
  }

  /** False: it was promised nothing. */
  drop(pod: Pod): boolean {
    const uid = uidOf(pod)
    const nodeName = this.#nodeOf.get(uid)
    if (nodeName === undefined) return false
    this.#nodeOf.delete(uid)
    const own = this.#byNode.get(nodeName)
    own?.delete(uid)
    if (own?.size === 0) this.#byNode.delete(nodeName)
    return true
  }

  /**
   * A promise that is not written yet outlasts news of the pod without one; a written one ends when it is taken back. True: the room that
   * the pod was promised is free for others, as it is not there and does not wait for it any more.
   */
  observe(pod: Pod, before: Pod | undefined): boolean {
    const promised = (before && writtenPromise(before)) ?? this.#nodeOf.get(uidOf(pod))
    const nominated = writtenPromise(pod)
    if (nominated !== undefined) this.#keep(pod, nominated)
    else if (!isWaiting(pod) || before?.status?.nominatedNodeName) this.drop(pod)
    const nodeName = pod.spec?.nodeName || this.#nodeOf.get(uidOf(pod))
    return promised !== undefined && promised !== nodeName
  }

  on(nodeName: string): readonly Pod[] {
    const own = this.#byNode.get(nodeName)
    if (own === undefined) return NOBODY
    return [...own.values()].filter((pod) => !this.#aside.has(uidOf(pod)) && !this.#isGated(pod))
  }

  /** What these pods were promised counts for nobody, until the next call: they are tried together, and may have each other's room. */
  setAside(pods: readonly Pod[]): void {
    this.#aside = new Set(pods.map(uidOf))
  }

  #keep(pod: Pod, nodeName: string): void {
    this.drop(pod)
    this.#nodeOf.set(uidOf(pod), nodeName)
    const own = this.#byNode.get(nodeName) ?? new Map<string, Pod>()
    this.#byNode.set(nodeName, own.set(uidOf(pod), pod))
  }
}

function isWaiting({ metadata, spec }: Pod): boolean {
  return !spec?.nodeName && metadata?.deletionTimestamp === undefined
}

function writtenPromise(pod: Pod): string | undefined {
  return isWaiting(pod) ? pod.status?.nominatedNodeName || undefined : undefined
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? ''
}
