import { identityKey } from './identity.ts'
import type { ObjectIdentity } from './identity.ts'

/**
 * Owners that were found not to exist, the most recently used ones. Entries never expire: a uid is never used again, so an
 * absent owner stays absent. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Concurrency.
 */
export class AbsentOwners {
  readonly #max: number
  /** In the order of their last use. */
  readonly #keys = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  add(identity: ObjectIdentity): void {
    const key = identityKey(identity)
    this.#keys.delete(key)
    this.#keys.add(key)
    if (this.#keys.size <= this.#max) return
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest)
      return
    }
  }

  /** Counts as a use. */
  has(identity: ObjectIdentity): boolean {
    const key = identityKey(identity)
    if (!this.#keys.delete(key)) return false
    this.#keys.add(key)
    return true
  }
}
