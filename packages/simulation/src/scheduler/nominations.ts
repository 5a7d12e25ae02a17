/** Which pods were promised room on which node: by status.nominatedNodeName, and before that is written. Pure. */
import type { Pod } from '@gyropilot/api'

export class Nominations {
  /** With the promise in their status, by uid. */
  readonly #pods = new Map<string, Pod>()

  get isEmpty(): boolean {
    return this.#pods.size === 0
  }

  promise(pod: Pod, nodeName: string): void {
    const status = { ...pod.status, nominatedNodeName: nodeName }
    this.#pods.set(uidOf(pod), { ...pod, status })
  }

  drop(pod: Pod): void {
    this.#pods.delete(uidOf(pod))
  }

  /** A promise that is not written yet outlasts news of the pod without one; a written one ends when it is taken back. */
  observe(pod: Pod, before: Pod | undefined): void {
    const isWaiting = !pod.spec?.nodeName && pod.metadata?.deletionTimestamp === undefined
    if (!isWaiting) this.drop(pod)
    else if (pod.status?.nominatedNodeName) this.#pods.set(uidOf(pod), pod)
    else if (before?.status?.nominatedNodeName) this.drop(pod)
  }

  on(nodeName: string): readonly Pod[] {
    return [...this.#pods.values()].filter(({ status }) => status?.nominatedNodeName === nodeName)
  }
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? ''
}
