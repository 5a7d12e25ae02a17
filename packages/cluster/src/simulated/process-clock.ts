import type { Clock, Timer } from '@gyropilot/foundation'

/** How callbacks reach a process: at once, later, or never. */
export interface Gate {
  /** Runs `callback` when the process may run; never once it is gone. */
  pass(kind: 'timer' | 'network', callback: () => void): void
  readonly isGone: boolean
}

/**
 * The clock of one process: its wall time may be wrong, its timers wait while the process does not run, and all but its wall
 * time stands still while its machine is asleep.
 */
export class ProcessClock implements Clock {
  readonly #world: Clock
  readonly #gate: Gate
  #wallOffsetMs = 0
  /** For how long it stood still, up to the last time that it woke up. */
  #asleepMs = 0
  #asleepSinceMs: number | undefined
  /**
   * What the clock showed at least when a timer fired. A difference of two times is rounded: without this a timer could fire a
   * trifle before its time, and who waits for the rest of it would wait for ever, because the world's clock does not move for that.
   */
  #leastMs = 0

  constructor(world: Clock, gate: Gate) {
    this.#world = world
    this.#gate = gate
  }

  nowMs(): number {
    return this.#world.nowMs() + this.#wallOffsetMs
  }

  monotonicMs(): number {
    const awakeMs = (this.#asleepSinceMs ?? this.#world.monotonicMs()) - this.#asleepMs
    return Math.max(awakeMs, this.#leastMs)
  }

  turnMs(): number {
    return this.#world.turnMs()
  }

  after(delayMs: number, callback: () => void): Timer {
    const ownDueMs = this.monotonicMs() + Math.max(0, delayMs)
    let cancelled = false
    let timer: Timer
    const arm = (waitMs: number): void => {
      const asleepMs = this.#asleepMs
      const dueMs = this.#world.monotonicMs() + waitMs
      timer = this.#world.after(waitMs, () =>
        this.#gate.pass('timer', () => {
          if (cancelled) return
          const sleptMs = this.#asleepMs - asleepMs
          const lateMs = this.#world.monotonicMs() - dueMs
          if (sleptMs > lateMs) return arm(sleptMs - lateMs)
          this.#leastMs = Math.max(this.#leastMs, ownDueMs)
          callback()
        }),
      )
    }
    arm(delayMs)
    return {
      cancel(): void {
        cancelled = true
        timer.cancel()
      },
    }
  }

  get isAsleep(): boolean {
    return this.#asleepSinceMs !== undefined
  }

  /** Its machine is asleep from now on. */
  suspend(): void {
    this.#asleepSinceMs ??= this.#world.monotonicMs()
  }

  /** Does nothing when the machine is awake. */
  wake(): void {
    if (this.#asleepSinceMs === undefined) return
    this.#asleepMs += this.#world.monotonicMs() - this.#asleepSinceMs
    this.#asleepSinceMs = undefined
  }

  /** As a bad time server would: this process only. */
  jumpWallTime(byMs: number): void {
    this.#wallOffsetMs += byMs
  }

  get wallOffsetMs(): number {
    return this.#wallOffsetMs
  }
}
