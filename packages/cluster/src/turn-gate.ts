import type { Clock } from '@gyropilot/foundation'
import { Fifo, LONG_TURN_MS } from '@gyropilot/foundation'

interface TurnGateOptions {
  readonly clock: Clock
  /** Resolves in the next turn of the event loop; for who asks several times, one after the other. */
  readonly nextTurn: () => Promise<void>
  /** The most that pass in one turn. */
  readonly perTurn: number
}

/**
 * Requests within one process cost no socket and so never wait: a burst of them would run to its end before a timer fires or
 * a socket is read. The gate lets a few pass in each turn of the event loop, unless it is long already, and the rest in the next
 * ones, in their order. One passes in every turn.
 */
export class TurnGate {
  readonly #options: TurnGateOptions
  readonly #waiting = new Fifo<() => void>()
  /** In this turn. */
  #passed = 0
  #isCounting = false
  /** How many calls of `#letPass` are to come. */
  #looks = 0

  constructor(options: TurnGateOptions) {
    this.#options = options
  }

  /** Undefined: pass at once. */
  pass(): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#isOpen()) {
      this.#count()
      return undefined
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#lookInNextTurn()
    })
  }

  #isOpen(): boolean {
    const { clock, perTurn } = this.#options
    const isLong = clock.turnMs() >= LONG_TURN_MS
    return this.#passed === 0 || (this.#passed < perTurn && !isLong)
  }

  #count(): void {
    this.#passed++
    if (!this.#isCounting) void this.#countTurns()
  }

  /** Goes on as long as somebody passes. */
  async #countTurns(): Promise<void> {
    this.#isCounting = true
    while (true) {
      await this.#options.nextTurn()
      if (this.#passed === 0) break
      this.#passed = 0
    }
    this.#isCounting = false
  }

  #lookInNextTurn(): void {
    const { perTurn, nextTurn } = this.#options
    for (; this.#looks < Math.min(perTurn, this.#waiting.size); this.#looks++)
      void nextTurn().then(() => this.#letPass())
  }

  /** One at a time: what it does in promises is done before the next looks at the time. */
  #letPass(): void {
    this.#looks--
    const next = this.#isOpen() ? this.#waiting.shift() : undefined
    if (next !== undefined) this.#count()
    if (this.#looks === 0) this.#lookInNextTurn()
    next?.()
  }
}
