import type { Clock } from '@gyropilot/foundation'

/** A handshake over half the world takes less. */
const PATIENCE_MS = 2_000

/**
 * Whoever needs a connection waits for the same dial. One that takes long may hang where the next one would not, at a load
 * balancer with a dead machine behind it: whoever comes then begins another. The first that succeeds counts for all who wait,
 * and so does the failure of the one begun last: the others have hung already.
 */
export class SharedDials {
  readonly #clock: Clock
  readonly #dial: () => Promise<void>
  #ended: PromiseWithResolvers<void> | undefined
  #last: Promise<void> | undefined
  #begunMs = 0

  constructor(clock: Clock, dial: () => Promise<void>) {
    this.#clock = clock
    this.#dial = dial
  }

  /** Rejects with what made the dial fail that was begun last. */
  next(): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    const isHopeful = this.#ended !== undefined && nowMs - this.#begunMs < PATIENCE_MS
    const ended = (this.#ended ??= Promise.withResolvers<void>())
    if (!isHopeful) {
      this.#begunMs = nowMs
      const dial = (this.#last = this.#dial())
      const end = (tell: () => void): void => {
        if (this.#ended === ended) this.#ended = undefined
        tell()
      }
      dial.then(
        () => end(ended.resolve),
        (error: unknown) => {
          if (this.#last === dial) end(() => ended.reject(error))
        },
      )
    }
    return ended.promise
  }
}
