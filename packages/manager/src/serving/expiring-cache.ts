import type { Clock } from '@gyropilot/foundation'

/** More entries than this and the oldest go: a flood of made-up tokens must not fill the memory. */
const MOST_ENTRIES = 4096

/** Answers that are asked for again after their time. Questions for one key that overlap are asked once; failures are not kept. */
export class ExpiringCache<T> {
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly value: T; readonly untilMs: number }>()
  readonly #asking = new Map<string, Promise<T>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get(key: string, ask: () => Promise<{ readonly value: T; readonly forMs: number }>): Promise<T> {
    const known = this.#known.get(key)
    if (known !== undefined && known.untilMs > this.#clock.monotonicMs()) {
      return Promise.resolve(known.value)
    }
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      asking = ask()
        .then(({ value, forMs }) => this.#keep(key, value, forMs))
        .finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    return asking
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
