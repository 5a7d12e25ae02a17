/**
 * Pods that are to go later, at most one of each name: it waits, then it goes, then the name is free again.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md, Evaluate, last paragraph.
 */
import type { Clock, Timer } from '@gyropilot/foundation'

/** `uid`: that of the one pod which is meant. */
interface Entry {
  readonly uid: string
  /** Undefined: it goes now. */
  timer: Timer | undefined
}

export class EvictionTimers {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Runs `work` after the delay, at once when there is none. Nothing happens while this pod waits or goes already. */
  start(key: string, uid: string, delayMs: number, work: () => Promise<void>): void {
    if (this.#stopped || this.#entries.get(key)?.uid === uid) return
    this.cancel(key)
    const entry: Entry = { uid, timer: undefined }
    this.#entries.set(key, entry)
    if (delayMs <= 0) this.#run(key, entry, work)
    else entry.timer = this.#clock.after(delayMs, () => this.#run(key, entry, work))
  }

  /** Nobody waits and nobody goes. */
  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  /** The pod of this name that waits; undefined: none does. */
  pendingUid(key: string): string | undefined {
    const entry = this.#entries.get(key)
    return entry?.timer === undefined ? undefined : entry.uid
  }

  /** Whether something waited. What runs is not stopped. */
  cancel(key: string): boolean {
    const timer = this.#entries.get(key)?.timer
    if (timer === undefined) return false
    timer.cancel()
    this.#entries.delete(key)
    return true
  }

  /** Cancels what waits; resolves when what runs has ended. Nothing can be started afterwards. */
  async shutDown(): Promise<void> {
    this.#stopped = true
    for (const { timer } of this.#entries.values()) timer?.cancel()
    await Promise.all(this.#running)
  }

  /** `work` tells of its own failures. */
  #run(key: string, entry: Entry, work: () => Promise<void>): void {
    entry.timer = undefined
    const running = work().finally(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
      this.#running.delete(running)
    })
    this.#running.add(running)
  }
}
