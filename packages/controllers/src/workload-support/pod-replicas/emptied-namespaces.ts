/**
 * Owners whose namespace is being emptied. Each of their pods that goes changes their status, which nobody waits for, and each
 * of these writes keeps the server from deleting the next pod; so they are looked at once in a while until they are gone too.
 */
import { keyOf } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'

export const REST_MS = 5_000

export class EmptiedNamespaces {
  readonly #clock: Clock
  /** By key of the owner; times are those of the monotonic clock. */
  readonly #rests = new Map<string, { readonly uid: string; readonly untilMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * The server has refused a pod of this owner because its namespace ends. All `owners` that are there now are of the namespace that
   * ends, for nothing can be made in it any more: they need not find it out one by one. Asked for once, not at every refusal.
   */
  found(owner: KubernetesObject, owners: () => readonly KubernetesObject[]): void {
    if (this.#isKnown(owner)) return
    for (const other of owners())
      if (!this.#isKnown(other)) this.#begin(keyOf(other), other.metadata?.uid ?? '')
  }

  #isKnown(owner: KubernetesObject): boolean {
    return this.#rests.get(keyOf(owner))?.uid === (owner.metadata?.uid ?? '')
  }

  /** How long the owner is to be left alone. 0: now is its time, and its next rest begins. */
  restMs(key: string, uid: string): number {
    const rest = this.#rests.get(key)
    if (rest?.uid !== uid) return 0
    const leftMs = rest.untilMs - this.#clock.monotonicMs()
    if (leftMs > 0) return leftMs
    this.#begin(key, uid)
    return 0
  }

  #begin(key: string, uid: string): void {
    this.#rests.set(key, { uid, untilMs: this.#clock.monotonicMs() + REST_MS })
  }

  forget(key: string): void {
    this.#rests.delete(key)
  }
}
