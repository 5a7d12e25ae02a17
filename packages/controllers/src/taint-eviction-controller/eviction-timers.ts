/**
 * What is to be done later, at most one thing for each key: it waits, then it runs, then the key is free again.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md, Evaluate, last paragraph.
 */
import type { Clock, Timer } from '@gyropilot/foundation'

export class EvictionTimers {
  readonly #clock: Clock
  /** Without a timer: running. */
  readonly #entries = new Map<string, Timer | undefined>()
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Runs `work` after the delay, at once when there is none. Nothing happens while the key waits or runs already. */
  start(key: string, delayMs: number, work: () => Promise<void>): void {
    if (this.#stopped || this.#entries.has(key)) return
    if (delayMs <= 0) {
      this.#run(key, work)
      return
    }
    this.#entries.set(
      key,
      this.#clock.after(delayMs, () => this.#run(key, work)),
    )
  }

  isPending(key: string): boolean {
    return this.#entries.get(key) !== undefined
  }

  /** Whether something waited. What runs is not stopped. */
  cancel(key: string): boolean {
    const timer = this.#entries.get(key)
    if (timer === undefined) return false
    timer.cancel()
    this.#entries.delete(key)
    return true
  }

  /** Cancels what waits; resolves when what runs has ended. Nothing can be started afterwards. */
  async shutDown(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#entries.values()) timer?.cancel()
    await Promise.all(this.#running)
  }

  /** `work` tells of its own failures. */
  #run(key: string, work: () => Promise<void>): void {
    this.#entries.set(key, undefined)
    const running = work().finally(() => {
      this.#entries.delete(key)
      this.#running.delete(running)
    })
    this.#running.add(running)
  }
}
