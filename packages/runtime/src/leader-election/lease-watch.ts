/** Tells a contender of each change of the Lease as it happens. Why: docs/decisions/0010-fail-over-bound.md. */
import { StatusError } from '@gyropilot/client'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { LeaseLock } from './lease-lock.ts'
import type { LeaseRecord } from './lease-record.ts'

/** How long a refusal counts: who had no permission may be given it, at the start of a cluster above all. */
const REFUSED_FOR_MS = 60_000

interface LeaseWatchOptions {
  readonly lock: LeaseLock
  readonly clock: Clock
  readonly logger: Logger
  readonly retryPeriodMs: number
  /** Undefined: the Lease is gone. */
  onChange(record: LeaseRecord | undefined): void
  /** A watch ended by itself: a read should come soon, and `open` after it. Not called for one that did not last a retry period. */
  onEnd(): void
}

/**
 * At most one watch, which starts from the version that the lock read last. It only hastens what polls would find: it may
 * lag, stall or be refused, and nothing is written on its word.
 */
export class LeaseWatch implements Disposable {
  readonly #options: LeaseWatchOptions
  #current: AbortController | undefined
  #refusedUntilMs = -Infinity

  constructor(options: LeaseWatchOptions) {
    this.#options = options
  }

  /** Does nothing while a watch is open, nor for a minute after the server has refused one. */
  open(): void {
    if (this.#current !== undefined || this.#isRefused) return
    this.#current = new AbortController()
    void this.#follow(this.#current)
  }

  close(): void {
    this.#current?.abort()
    this.#current = undefined
  }

  [Symbol.dispose](): void {
    this.close()
  }

  get #isRefused(): boolean {
    return this.#options.clock.monotonicMs() < this.#refusedUntilMs
  }

  async #follow(current: AbortController): Promise<void> {
    const { lock, clock, logger, retryPeriodMs, onChange, onEnd } = this.#options
    const openedMs = clock.monotonicMs()
    try {
      for await (const record of lock.changes(current.signal)) {
        if (current.signal.aborted) return
        onChange(record)
      }
    } catch (error) {
      if (isRefusal(error)) this.#refusedUntilMs = clock.monotonicMs() + REFUSED_FOR_MS
      if (!current.signal.aborted)
        logger.verbosity(4).info('The watch of the lease failed', {
          lock: lock.description,
          error,
          refused: this.#isRefused,
        })
    }
    if (current.signal.aborted) return
    this.#current = undefined
    if (!this.#isRefused && clock.monotonicMs() >= openedMs + retryPeriodMs) onEnd()
  }
}

/** To ask again soon would get the same answer: no permission, or a server without this watch. */
function isRefusal(error: unknown): boolean {
  return error instanceof StatusError && [400, 401, 403, 404, 405].includes(error.code)
}
