import type { Clock } from '@gyropilot/foundation'
import { Fifo, LONG_TURN_MS, TURN_MS } from '@gyropilot/foundation'

interface TurnGateOptions {
  readonly clock: Clock
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>
  /** The most that pass in one turn. */
  readonly perTurn: number
}

/**
 * Requests within one process cost no socket and so never wait: a burst of them would run to its end before a timer fires or
 * a socket is read. The gate lets a few pass in each turn of the event loop and the rest in the next ones, in their order. After
 * a turn that was long only one passes, and twice as many after each that was short.
 *
 * Those of one turn pass together, each step of all of them before the next step: one after the other they take a fifth more of
 * the processor, whose caches hold the code of a step and not that of a request.
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
    if (this.#waiting.size === 0 && this.#passed < this.#open) {
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
