/** Contract: docs/behaviour/runtime/workqueue.md, Rate limiters. */
import type { Clock } from '@gyropilot/foundation'
import type { RateLimiter } from './rate-limiter.ts'

/** `baseMs * 2^n`, at most `maxMs`, where n counts earlier calls since the key was forgotten. No jitter. */
export class ExponentialRateLimiter implements RateLimiter {
  readonly #baseMs: number
  readonly #maxMs: number
  readonly #failures = new Map<string, number>()

  constructor(baseMs: number, maxMs: number) {
    this.#baseMs = baseMs
    this.#maxMs = maxMs
  }

  whenMs(key: string): number {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    return Math.min(this.#baseMs * 2 ** failures, this.#maxMs)
  }

  forget(key: string): void {
    this.#failures.delete(key)
  }

  requeues(key: string): number {
    return this.#failures.get(key) ?? 0
  }
}

/** One token bucket for all keys. Never refuses: it says how long the reservation it just made has to wait. */
export class BucketRateLimiter implements RateLimiter {
  readonly #clock: Clock
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #filledMs: number

  constructor(clock: Clock, perSecond: number, burst: number) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#burst = burst
    this.#tokens = burst
    this.#filledMs = clock.monotonicMs()
  }

  whenMs(_key: string): number {
    const nowMs = this.#clock.monotonicMs()
    const refilled = this.#tokens + ((nowMs - this.#filledMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#burst, refilled) - 1
    this.#filledMs = nowMs
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000
  }

  forget(): void {}

  requeues(): number {
    return 0
  }
}

/** A short wait for the first `maxFast` calls of a key, then a long one. */
export class FastSlowRateLimiter implements RateLimiter {
  readonly #fastMs: number
  readonly #slowMs: number
  readonly #maxFast: number
  readonly #attempts = new Map<string, number>()

  constructor(fastMs: number, slowMs: number, maxFast: number) {
    this.#fastMs = fastMs
    this.#slowMs = slowMs
    this.#maxFast = maxFast
  }

  whenMs(key: string): number {
    const attempts = this.requeues(key) + 1
    this.#attempts.set(key, attempts)
    return attempts <= this.#maxFast ? this.#fastMs : this.#slowMs
  }

  forget(key: string): void {
    this.#attempts.delete(key)
  }

  requeues(key: string): number {
    return this.#attempts.get(key) ?? 0
  }
}

/** Asks every limiter, so that each of them counts, and takes the longest wait. */
export class MaxOfRateLimiter implements RateLimiter {
  readonly #limiters: readonly RateLimiter[]

  constructor(...limiters: readonly RateLimiter[]) {
    this.#limiters = limiters
  }

  whenMs(key: string): number {
    return Math.max(0, ...this.#limiters.map((limiter) => limiter.whenMs(key)))
  }

  forget(key: string): void {
    for (const limiter of this.#limiters) limiter.forget(key)
  }

  requeues(key: string): number {
    return Math.max(0, ...this.#limiters.map((limiter) => limiter.requeues(key)))
  }
}

/** Another limiter whose waits are cut. */
export class WithMaxWaitRateLimiter implements RateLimiter {
  readonly #limiter: RateLimiter
  readonly #maxWaitMs: number

  constructor(limiter: RateLimiter, maxWaitMs: number) {
    this.#limiter = limiter
    this.#maxWaitMs = maxWaitMs
  }

  whenMs(key: string): number {
    return Math.min(this.#limiter.whenMs(key), this.#maxWaitMs)
  }

  forget(key: string): void {
    this.#limiter.forget(key)
  }

  requeues(key: string): number {
    return this.#limiter.requeues(key)
  }
}

/** The same wait always, one requeue always: the horizontal pod autoscaler's. */
export function fixedRateLimiter(delayMs: number): RateLimiter {
  return { whenMs: () => delayMs, forget() {}, requeues: () => 1 }
}

/** What controllers use unless their page says otherwise: 5 ms..1000 s per key, and 10 per second with a burst of 100 over all. */
export function defaultControllerRateLimiter(clock: Clock): RateLimiter {
  return exponentialAndBucket(clock, 5, 1000_000)
}

/** Exponential per key, and the controllers' overall bucket. */
export function exponentialAndBucket(clock: Clock, baseMs: number, maxMs: number): RateLimiter {
  return new MaxOfRateLimiter(
    new ExponentialRateLimiter(baseMs, maxMs),
    new BucketRateLimiter(clock, 10, 100),
  )
}

/** 1 ms..1000 s per key. */
export function defaultItemRateLimiter(): RateLimiter {
  return new ExponentialRateLimiter(1, 1000_000)
}
