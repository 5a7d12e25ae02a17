import type { Clock, Timer } from './clock.ts'
import { Heap } from './heap.ts'

interface PendingCall {
  readonly dueMs: number
  readonly sequence: number
  callback: (() => void) | undefined
}

/** Where a VirtualClock begins, and how it lets promises run dry. */
export interface VirtualClockOptions {
  /** Wall time at the start, in milliseconds since the Unix epoch. Default: 2026-01-01T00:00:00Z. */
  readonly startMs?: number
  /** One turn of the real event loop, so that promises run dry between timers. Default: a setImmediate turn. */
  readonly settle: () => Promise<void>
}

/**
 * A clock that stands still until it is advanced. `advance` takes the earliest timer (ties by creation), sets now to its
 * due time, calls it, lets promises run dry, and repeats: so every callback sees the time it asked for.
 */
export class VirtualClock implements Clock {
  readonly #pending = new Heap<PendingCall>((a, b) => a.dueMs - b.dueMs || a.sequence - b.sequence)
  readonly #settle: () => Promise<void>
  #elapsedMs = 0
  #wallOffsetMs: number
  #sequence = 0

  constructor(options: VirtualClockOptions) {
    this.#settle = options.settle
    this.#wallOffsetMs = options.startMs ?? Date.UTC(2026, 0, 1)
  }

  nowMs(): number {
    return this.#wallOffsetMs + this.#elapsedMs
  }

  monotonicMs(): number {
    return this.#elapsedMs
  }

  turnMs(): number {
    return 0
  }

  after(delayMs: number, callback: () => void): Timer {
    const call: PendingCall = {
      dueMs: this.#elapsedMs + Math.max(0, delayMs),
      sequence: this.#sequence++,
      callback,
    }
    this.#pending.push(call)
    return {
      cancel(): void {
        call.callback = undefined
      },
    }
  }

  /** Moves wall time only, as an administrator or a bad NTP server would: timers and monotonic time do not notice. */
  jumpWallTime(byMs: number): void {
    this.#wallOffsetMs += byMs
  }

  /** Runs everything due within the next `byMs`, in order, and ends exactly `byMs` later. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#elapsedMs + byMs
    await this.#settle()
    while (await this.#fireNext(endMs)) await this.#settle()
    this.#elapsedMs = endMs
  }

  /** Advances timer by timer until `done` holds or `limitMs` have passed; returns whether `done` holds. */
  async advanceUntil(done: () => boolean, limitMs: number): Promise<boolean> {
    const endMs = this.#elapsedMs + limitMs
    await this.#settle()
    while (!done()) {
      if (!(await this.#fireNext(endMs))) {
        this.#elapsedMs = endMs
        return done()
      }
      await this.#settle()
    }
    return true
  }

  async #fireNext(endMs: number): Promise<boolean> {
    for (;;) {
      const next = this.#pending.peek()
      if (next === undefined || next.dueMs > endMs) return false
      this.#pending.pop()
      if (next.callback === undefined) continue
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs)
      next.callback()
      return true
    }
  }
}
