import type { Clock } from './clock.ts'
import { LONG_TURN_MS, TURN_MS } from './clock.ts'
import { Fifo } from './fifo.ts'

interface TurnGateOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>
  /** The most that pass in one turn. */
  readonly perTurn: number
  /**
   * Whoever comes waits for the end of the turn, to pass together with others: for what is read from sockets, one after the
   * other. Default false: they pass at once while the gate is open.
   */
  readonly gathers?: boolean
}

/**
 * Lets a few requests pass in each turn of the event loop and the rest in the next ones, in their order: a burst of them would run
 * to its end before a timer fires or a socket is read. After a turn that was long only one passes, and twice as many after each that
 * was short.
 *
 * Those of one turn pass together, each step of all of them before the next step: one after the other they take a fifth to a half
 * more of the processor, whose caches hold the code of a step and not that of a request.
 */
export class TurnGate {
  readonly #options: TurnGateOptions
  readonly #waiting = new Fifo<() => void>()
  /** How many may pass in this turn, and did. */
  #open: number
  #passed = 0
  #isCounting = false

  constructor(options: TurnGateOptions) {
    this.#options = options
    this.#open = options.perTurn
  }

  /** Undefined: pass at once. */
  pass(): Promise<void> | undefined {
    if (!this.#isCounting) void this.#countTurns()
    const mustWait = this.#options.gathers === true || this.#waiting.size > 0
    if (!mustWait && this.#passed < this.#open) {
      this.#passed++
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Goes on as long as somebody passes. */
  async #countTurns(): Promise<void> {
    const { clock, nextTurn, perTurn } = this.#options
    this.#isCounting = true
    do {
      const startMs = clock.monotonicMs()
      await nextTurn()
      const tookMs = clock.monotonicMs() - startMs
      if (tookMs >= LONG_TURN_MS) this.#open = 1
      else if (tookMs < TURN_MS) this.#open = Math.min(2 * this.#open, perTurn)
      for (this.#passed = 0; this.#passed < this.#open && this.#waiting.size > 0; this.#passed++)
        this.#waiting.shift()!()
    } while (this.#passed > 0)
    this.#isCounting = false
  }
}
