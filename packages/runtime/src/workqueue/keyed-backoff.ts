import type { Clock, RandomSource } from '@gyropilot/foundation'

interface Entry {
  backoffMs: number
  updatedMs: number
}

/**
 * Growing waits by id, for things that are not queue keys: the pods of a node that keep failing. An entry that was not
 * updated for twice the longest wait counts as new.
 * Contract: docs/behaviour/runtime/workqueue.md, Helpers.
 */
export class KeyedBackoff {
  readonly #clock: Clock
  readonly #initialMs: number
  readonly #maxMs: number
  readonly #jitter: { readonly random: RandomSource; readonly factor: number } | undefined
  readonly #entries = new Map<string, Entry>()

  constructor(
    clock: Clock,
    initialMs: number,
    maxMs: number,
    jitter?: { readonly random: RandomSource; readonly factor: number },
  ) {
    this.#clock = clock
    this.#initialMs = initialMs
    this.#maxMs = maxMs
    this.#jitter = jitter
  }

  /** 0 for an id that never failed. */
  currentMs(id: string): number {
    return this.#entries.get(id)?.backoffMs ?? 0
  }

  /** One more failure, at the moment `atMs` of the clock's elapsed time. */
  next(id: string, atMs = this.#clock.monotonicMs()): void {
    const entry = this.#entries.get(id)
    if (entry === undefined || this.#isOver(entry, atMs)) {
      this.#entries.set(id, {
        backoffMs: this.#initialMs + this.#jitterOf(this.#initialMs),
        updatedMs: this.#clock.monotonicMs(),
      })
      return
    }
    const { backoffMs } = entry
    entry.backoffMs = Math.min(backoffMs * 2 + this.#jitterOf(backoffMs), this.#maxMs)
    entry.updatedMs = this.#clock.monotonicMs()
  }

  /** True while less than the current wait has passed since the last failure. */
  isInBackoff(id: string, atMs = this.#clock.monotonicMs()): boolean {
    const entry = this.#entries.get(id)
    return entry !== undefined && atMs - entry.updatedMs < entry.backoffMs
  }

  /** Forgets one id. */
  reset(id: string): void {
    this.#entries.delete(id)
  }

  /** Forgets what counts as new anyway. Nothing else does. */
  collectGarbage(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [id, entry] of this.#entries)
      if (this.#isOver(entry, nowMs)) this.#entries.delete(id)
  }

  #isOver(entry: Entry, atMs: number): boolean {
    return atMs - entry.updatedMs > this.#maxMs * 2
  }

  /** A share of the wait before it is doubled, as upstream. */
  #jitterOf(ms: number): number {
    return this.#jitter === undefined ? 0 : this.#jitter.random.next() * this.#jitter.factor * ms
  }
}
