import type { Clock, RandomSource } from '@gyropilot/foundation'
import { jitter } from '@gyropilot/foundation'

const FIRST_MS = 800
const LONGEST_MS = 30_000
const RESTART_AFTER_MS = 2 * 60_000

/**
 * The waits between failed requests of one reflector: 0.8 s doubling to 30 s, each up to twice as long by chance. The
 * sequence starts again when two minutes have passed since it last started, so a permanent outage cycles.
 */
export class ReflectorBackoff {
  readonly #clock: Clock
  readonly #random: RandomSource
  #startedMs: number
  #nextMs = FIRST_MS

  constructor(clock: Clock, random: RandomSource) {
    this.#clock = clock
    this.#random = random
    this.#startedMs = clock.monotonicMs()
  }

  nextDelayMs(): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#startedMs > RESTART_AFTER_MS) {
      this.#startedMs = nowMs
      this.#nextMs = FIRST_MS
    }
    const baseMs = this.#nextMs
    this.#nextMs = Math.min(baseMs * 2, LONGEST_MS)
    return jitter(this.#random, baseMs, 1)
  }
}
