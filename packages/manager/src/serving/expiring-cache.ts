import type { Clock } from '@gyropilot/foundation'

/** More entries than this and the oldest go: a flood of made-up tokens must not fill the memory. */
const MOST_ENTRIES = 4096

/** Is told how a cache is used: a question begins, and its end tells whether the answer was known; so for each asking, and for the waiting. */
export interface CacheObserver {
  asked(): (known: boolean) => void
  waiting(): () => void
  fetching(): (succeeded: boolean) => void
}

/** Answers that are asked for again after their time. Questions for one key that overlap are asked once; failures are not kept. */
export class ExpiringCache<T> {
  readonly #clock: Clock
  readonly #observer: CacheObserver | undefined
  readonly #known = new Map<string, { readonly value: T; readonly untilMs: number }>()
  readonly #asking = new Map<string, Promise<T>>()

  constructor(clock: Clock, observer?: CacheObserver) {
    this.#clock = clock
    this.#observer = observer
  }

  async get(
    key: string,
    ask: () => Promise<{ readonly value: T; readonly forMs: number }>,
  ): Promise<T> {
    const asked = this.#observer?.asked()
    const known = this.#known.get(key)
    if (known !== undefined && known.untilMs > this.#clock.monotonicMs()) {
      asked?.(true)
      return known.value
    }
    const waited = this.#observer?.waiting()
    try {
      let asking = this.#asking.get(key)
      if (asking === undefined) {
        asking = this.#review(key, ask).finally(() => this.#asking.delete(key))
        this.#asking.set(key, asking)
      }
      return await asking
    } finally {
      waited?.()
      asked?.(false)
    }
  }

  async #review(
    key: string,
    ask: () => Promise<{ readonly value: T; readonly forMs: number }>,
  ): Promise<T> {
    const fetched = this.#observer?.fetching()
    try {
      const { value, forMs } = await ask()
      fetched?.(true)
      return this.#keep(key, value, forMs)
    } catch (error) {
      fetched?.(false)
      throw error
    }
  }

  #keep(key: string, value: T, forMs: number): T {
    this.#known.delete(key)
    this.#known.set(key, { value, untilMs: this.#clock.monotonicMs() + forMs })
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_ENTRIES) break
      this.#known.delete(oldest)
    }
    return value
  }
}
