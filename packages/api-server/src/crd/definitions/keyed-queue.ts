import type { Clock, Timer } from '@gyropilot/foundation'

const RETRY_MS = 5000

interface KeyedQueueParts {
  readonly clock: Clock
  work(key: string): Promise<void>
  /** Said of work that failed; it is tried again. */
  onFailure(key: string, error: unknown): void
}

/** Work by key: of one key one after the other and never twice in the queue; keys do not wait for each other. */
export class KeyedQueue {
  readonly #parts: KeyedQueueParts
  readonly #waiting = new Set<string>()
  /** The last of each key. */
  readonly #runs = new Map<string, Promise<void>>()
  readonly #retries = new Map<string, Timer>()
  #stopped = false

  constructor(parts: KeyedQueueParts) {
    this.#parts = parts
  }

  add(key: string): void {
    if (this.#stopped || this.#waiting.has(key)) return
    this.#waiting.add(key)
    const run = (this.#runs.get(key) ?? Promise.resolve()).then(() => this.#run(key))
    this.#runs.set(key, run)
    void run.then(() => {
      if (this.#runs.get(key) === run) this.#runs.delete(key)
    })
  }

  /** What it waits for may change without anything being written. */
  addLater(key: string): void {
    if (this.#stopped) return
    this.#retries.get(key)?.cancel()
    this.#retries.set(
      key,
      this.#parts.clock.after(RETRY_MS, () => this.add(key)),
    )
  }

  /** Resolves when nothing waits but for a retry. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs.values())
  }

  stop(): void {
    this.#stopped = true
    for (const timer of this.#retries.values()) timer.cancel()
    this.#retries.clear()
  }

  async #run(key: string): Promise<void> {
    this.#waiting.delete(key)
    if (this.#stopped) return
    this.#retries.get(key)?.cancel()
    this.#retries.delete(key)
    try {
      await this.#parts.work(key)
    } catch (error) {
      this.#parts.onFailure(key, error)
      this.addLater(key)
    }
  }
}
