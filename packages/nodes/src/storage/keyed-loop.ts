/** Works on keys, one at a time each, and again when it failed: what the parts of a storage driver have in common. */
import type { Clock, Logger } from '@gyropilot/foundation'
import { ExponentialRateLimiter, RateLimitingQueue } from '@gyropilot/runtime'

const FIRST_RETRY_MS = 1_000
const RETRY_LIMIT_MS = 300_000

interface KeyedLoopOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** What it throws is tried again: after 1 s, 2 s, 4 s... at most 5 min. */
  readonly work: (key: string, signal: AbortSignal) => Promise<void>
}

/** Keys do not wait for one another: an operation that takes long holds up its own object alone. */
export class KeyedLoop {
  readonly #options: KeyedLoopOptions
  readonly #queue: RateLimitingQueue

  constructor(options: KeyedLoopOptions) {
    this.#options = options
    this.#queue = new RateLimitingQueue({
      clock: options.clock,
      rateLimiter: new ExponentialRateLimiter(FIRST_RETRY_MS, RETRY_LIMIT_MS),
    })
  }

  add(key: string): void {
    this.#queue.add(key)
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#queue.shutDown(), { once: true })
    for (let item = await this.#queue.get(); item; item = await this.#queue.get())
      void this.#work(item.key, signal)
  }

  async #work(key: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.work(key, signal)
      this.#queue.forget(key)
    } catch (error) {
      if (!signal.aborted) {
        this.#options.logger.info('Storage operation failed', { key, error: String(error) })
        this.#queue.addRateLimited(key)
      }
    } finally {
      this.#queue.done(key)
    }
  }
}
