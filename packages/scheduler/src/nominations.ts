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

  drop(pod: Pod): void {
    const uid = uidOf(pod)
    const nodeName = this.#nodeOf.get(uid)
    if (nodeName === undefined) return
    this.#nodeOf.delete(uid)
    const own = this.#byNode.get(nodeName)
    own?.delete(uid)
    if (own?.size === 0) this.#byNode.delete(nodeName)
  }

  /** A promise that is not written yet outlasts news of the pod without one; a written one ends when it is taken back. */
  observe(pod: Pod, before: Pod | undefined): void {
    const isWaiting = !pod.spec?.nodeName && pod.metadata?.deletionTimestamp === undefined
    if (!isWaiting) this.drop(pod)
    else if (pod.status?.nominatedNodeName) this.#keep(pod, pod.status.nominatedNodeName)
    else if (before?.status?.nominatedNodeName) this.drop(pod)
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

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? ''
}
