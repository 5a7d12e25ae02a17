import type { Clock, Timer } from '@gyropilot/foundation'

/** How callbacks reach a process: at once, later, or never. */
export interface Gate {
  /** Runs `callback` when the process may run; never once it is gone. */
  pass(kind: 'timer' | 'network', callback: () => void): void
  readonly isGone: boolean
}

/** The clock of one process: its wall time may be wrong, and its timers wait while the process does not run. */
export class ProcessClock implements Clock {
  readonly #world: Clock
  readonly #gate: Gate
  #wallOffsetMs = 0

  constructor(world: Clock, gate: Gate) {
    this.#world = world
    this.#gate = gate
  }

  nowMs(): number {
    return this.#world.nowMs() + this.#wallOffsetMs
  }

  monotonicMs(): number {
    return this.#world.monotonicMs()
  }

  after(delayMs: number, callback: () => void): Timer {
    let cancelled = false
    const timer = this.#world.after(delayMs, () => {
      if (cancelled) return
      this.#gate.pass('timer', () => {
        if (!cancelled) callback()
      })
    })
    return {
      cancel(): void {
        cancelled = true
        timer.cancel()
      },
    }
  }

  /** As a bad time server would: this process only. */
  jumpWallTime(byMs: number): void {
    this.#wallOffsetMs += byMs
  }

  get wallOffsetMs(): number {
    return this.#wallOffsetMs
  }
}
