/** How long a pod may take to end. It may be shortened while that goes on, and is never lengthened. */
import { anySignal, sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { Pod } from '@gyropilot/api'

/** Between SIGTERM and SIGKILL there is at least this much. */
const LEAST_MS = 2_000

/** What the pod asks for itself. */
export function graceMsOf({ spec }: Pod): number {
  return Number(spec?.terminationGracePeriodSeconds ?? 30) * 1000
}

export class GraceTime {
  readonly #clock: Clock
  #endMs: number
  #shortened = new AbortController()

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock
    this.#endMs = clock.monotonicMs() + graceMs
  }

  /** Counts from now. */
  shorten(graceMs: number): void {
    const endMs = this.#clock.monotonicMs() + graceMs
    if (endMs >= this.#endMs) return
    this.#endMs = endMs
    this.#shortened.abort(new Error('grace time was shortened'))
    this.#shortened = new AbortController()
  }

  /** What comes before SIGTERM: true when it came to its end within the time. It is told to stop when it does not. */
  async allows(act: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<boolean> {
    const over = new AbortController()
    using scope = anySignal([signal, over.signal])
    const acting = act(scope.signal).then(() => true)
    const ending = this.#until(Infinity, 0, scope.signal)
    try {
      return await Promise.race([acting, ending])
    } finally {
      over.abort(new Error('over'))
      acting.catch(() => {})
      ending.catch(() => {})
    }
  }

  /** After SIGTERM: waits as long as the program takes; false when it is killed before. */
  passes(durationMs: number, signal: AbortSignal): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs()
    return this.#until(nowMs + durationMs, nowMs + LEAST_MS, signal)
  }

  /** Waits for a moment, and at most for the end of the grace time or for `leastEndMs`, what is later; true when it came. */
  async #until(dueMs: number, leastEndMs: number, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const untilMs = Math.min(dueMs, Math.max(this.#endMs, leastEndMs))
      using scope = anySignal([signal, this.#shortened.signal])
      try {
        await sleep(this.#clock, Math.max(0, untilMs - this.#clock.monotonicMs()), scope.signal)
        return untilMs === dueMs
      } catch (error) {
        if (signal.aborted) throw error
      }
    }
  }
}
