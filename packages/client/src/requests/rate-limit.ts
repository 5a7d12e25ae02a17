import type { Clock, Timer } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'

/** Delays requests. One per client set, shared by all its types. */
export interface RequestRateLimiter {
  /** Resolves with the milliseconds waited; rejects with the signal's reason, giving the token back. */
  wait(signal?: AbortSignal): Promise<number> | number
}

/** Waits for nothing. */
export const noRateLimit: RequestRateLimiter = { wait: () => 0 }

/**
 * A token bucket: `burst` at once, then `qps` a second. Waiters are served in the order they came, each with its own token
 * taken in advance (as golang.org/x/time/rate reserves them), so that nobody starves.
 */
export class TokenBucket implements RequestRateLimiter {
  readonly #qps: number
  readonly #burst: number
  readonly #clock: Clock
  #tokens: number
  #updatedMs: number

  constructor(options: { readonly qps: number; readonly burst: number; readonly clock: Clock }) {
    this.#qps = options.qps
    this.#burst = options.burst
    this.#clock = options.clock
    this.#tokens = options.burst
    this.#updatedMs = options.clock.monotonicMs()
  }

  /** Takes a token if there is one now. */
  tryAccept(): boolean {
    this.#refill()
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  wait(signal?: AbortSignal): Promise<number> | number {
    signal?.throwIfAborted()
    this.#refill()
    this.#tokens -= 1
    if (this.#tokens >= 0) return 0
    const delayMs = (-this.#tokens / this.#qps) * 1000
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined
      const onAbort = (): void => {
        timer?.cancel()
        this.#refill()
        this.#tokens = Math.min(this.#burst, this.#tokens + 1)
        reject(signal?.reason)
      }
      timer = this.#clock.after(delayMs, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve(delayMs)
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs()
    const gained = ((nowMs - this.#updatedMs) / 1000) * this.#qps
    this.#updatedMs = nowMs
    this.#tokens = Math.min(this.#burst, this.#tokens + gained)
  }
}

/** Kubernetes' rules: 0 means the default (5 qps, burst 10), a negative QPS means no limit. */
export function rateLimiterFor(clock: Clock, qps = 0, burst = 0): RequestRateLimiter {
  if (qps < 0) return noRateLimit
  if (qps > 0 && burst <= 0) {
    throw clientErrors.make(
      'RATE_LIMIT_INVALID',
      'burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0',
    )
  }
  return new TokenBucket({ qps: qps || 5, burst: burst || 10, clock })
}
