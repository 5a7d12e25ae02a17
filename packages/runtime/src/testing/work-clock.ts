import type { Clock, Timer } from '@gyropilot/foundation'

/**
 * A clock on which work takes time: what is worked without giving up the turn adds up, and any timer that fires is a new turn.
 * For tests of who holds the process up for how long, without a machine that measures it.
 */
export class WorkClock implements Clock {
  longestTurnMs = 0
  readonly #inner: Clock
  readonly #lookMs: number
  #workedMs = 0
  #turnStartMs = 0

  /** `lookMs`: what is worked between two looks at the clock, for loops whose work says nothing by itself. */
  constructor(inner: Clock, lookMs = 0) {
    this.#inner = inner
    this.#lookMs = lookMs
  }

  work(forMs: number): void {
    this.#workedMs += forMs
    this.longestTurnMs = Math.max(this.longestTurnMs, this.#workedMs - this.#turnStartMs)
  }

  nowMs(): number {
    return this.#inner.nowMs() + this.#workedMs
  }

  monotonicMs(): number {
    this.work(this.#lookMs)
    return this.#inner.monotonicMs() + this.#workedMs
  }

  turnMs(): number {
    this.work(this.#lookMs)
    return this.#workedMs - this.#turnStartMs
  }

  after(delayMs: number, callback: () => void): Timer {
    return this.#inner.after(delayMs, () => {
      this.#turnStartMs = this.#workedMs
      callback()
    })
  }
}
