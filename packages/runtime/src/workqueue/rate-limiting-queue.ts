import { DelayingQueue } from './delaying-queue.ts'
import type { WorkQueueOptions } from './queue.ts'
import { defaultControllerRateLimiter } from './rate-limiters.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Reason } from './reasons.ts'

/** The rate limiter defaults to that of controllers: 5 ms..1000 s per key, 10 a second over all. */
export interface RateLimitingQueueOptions extends WorkQueueOptions {
  /** Default: the controllers' limiter, 5 ms..1000 s per key and 10 keys per second over all. */
  readonly rateLimiter?: RateLimiter
}

/** A delaying queue that knows how long a failing key must wait. */
export class RateLimitingQueue extends DelayingQueue {
  readonly #rateLimiter: RateLimiter

  constructor(options: RateLimitingQueueOptions) {
    super(options)
    this.#rateLimiter = options.rateLimiter ?? defaultControllerRateLimiter(options.clock)
  }

  addRateLimited(key: string, reason?: Reason): void {
    this.addAfter(key, this.#rateLimiter.whenMs(key), reason)
  }

  /** The key is fine again: its next failure waits as the first. Takes nothing out of the queue; `done` is still due. */
  forget(key: string): void {
    this.#rateLimiter.forget(key)
  }

  requeues(key: string): number {
    return this.#rateLimiter.requeues(key)
  }
}
