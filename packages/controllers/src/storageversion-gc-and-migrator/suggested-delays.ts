import type { RateLimiter } from '@gyropilot/runtime'

/** A rate limiter that also waits for as long as the server asked for, once. */
export class SuggestedDelays implements RateLimiter {
  readonly #limiter: RateLimiter
  readonly #suggestedMs = new Map<string, number>()

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter
  }

  suggest(key: string, delayMs: number): void {
    this.#suggestedMs.set(key, delayMs)
  }

  whenMs(key: string): number {
    const suggestedMs = this.#suggestedMs.get(key) ?? 0
    this.#suggestedMs.delete(key)
    return Math.max(suggestedMs, this.#limiter.whenMs(key))
  }

  forget(key: string): void {
    this.#suggestedMs.delete(key)
    this.#limiter.forget(key)
  }

  requeues(key: string): number {
    return this.#limiter.requeues(key)
  }
}
