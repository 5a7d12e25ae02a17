/** Keeps the most recently used `capacity` entries, and of these none that are over. */
export class LruCache<V, K = string> {
  readonly #entries = new Map<K, V>()
  readonly #capacity: number
  readonly #isOver: (value: V) => boolean

  /** `isOver`: what is not used again for so long that it is as good as absent. Default: nothing is. */
  constructor(capacity: number, isOver: (value: V) => boolean = () => false) {
    this.#capacity = capacity
    this.#isOver = isOver
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /** Forgets the oldest while they are over: each call pays for what an earlier one brought. */
  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    for (const [oldest, kept] of this.#entries) {
      if (this.#entries.size <= this.#capacity && !this.#isOver(kept)) break
      this.#entries.delete(oldest)
    }
  }
}
