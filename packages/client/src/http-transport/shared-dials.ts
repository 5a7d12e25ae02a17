import type { Clock } from '@gyropilot/foundation'

/** A handshake over half the world takes less. */
const PATIENCE_MS = 2_000

/**
 * Whoever needs a connection waits for the same dial. One that takes long may hang where the next one would not, at a load
 * balancer with a dead machine behind it: whoever comes then begins another, and the first that ends counts for all.
 */
export class SharedDials {
  readonly #clock: Clock
  readonly #dial: () => Promise<void>
  #ended: PromiseWithResolvers<void> | undefined
  #begunMs = 0

  constructor(clock: Clock, dial: () => Promise<void>) {
    this.#clock = clock
    this.#dial = dial
  }

  /** Rejects with what made the dial fail. */
  next(): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    const isHopeful = this.#ended !== undefined && nowMs - this.#begunMs < PATIENCE_MS
    const ended = (this.#ended ??= Promise.withResolvers<void>())
    if (!isHopeful) {
      this.#begunMs = nowMs
      const settled = (): void => {
        if (this.#ended === ended) this.#ended = undefined
      }
      this.#dial().finally(settled).then(ended.resolve, ended.reject)
    }
    return ended.promise
  }
}
