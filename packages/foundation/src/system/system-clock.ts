import type { Clock, Timer } from '../clock.ts'

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** The machine's clock. Made once in a binary and handed down. Pending timers keep the process alive. */
export class SystemClock implements Clock {
  /** Undefined: nobody has asked in this turn. */
  #turnStartMs: number | undefined

  nowMs(): number {
    return Date.now()
  }

  monotonicMs(): number {
    return performance.now()
  }

  turnMs(): number {
    const nowMs = performance.now()
    if (this.#turnStartMs !== undefined) return nowMs - this.#turnStartMs
    this.#turnStartMs = nowMs
    // What is to be done immediately ends each turn. Not unref'd: the loop would wait for a socket first, in the same turn.
    setImmediate(this.#endTurn)
    return 0
  }

  readonly #endTurn = (): void => {
    this.#turnStartMs = undefined
  }

  after(delayMs: number, callback: () => void): Timer {
    // setTimeout wraps beyond 2^31-1 ms: long waits go in legs.
    let handle: NodeJS.Timeout
    const arm = (remainingMs: number): void => {
      handle =
        remainingMs > LONGEST_TIMEOUT_MS
          ? setTimeout(() => arm(remainingMs - LONGEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS)
          : setTimeout(callback, Math.max(0, remainingMs))
    }
    arm(delayMs)
    return { cancel: () => clearTimeout(handle) }
  }
}
