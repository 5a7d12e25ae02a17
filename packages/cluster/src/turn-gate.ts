/**
 * Requests within one process cost no socket and so never wait: a burst of them would run to its end before a timer fires or
 * a socket is read. The gate lets a few pass in each turn of the event loop and the rest in the next ones, in their order.
 */
export class TurnGate {
  readonly #perTurn: number
  readonly #nextTurn: () => Promise<void>
  readonly #waiting: (() => void)[] = []
  #first = 0
  #passed = 0
  #counting = false

  /** `nextTurn` resolves in the next turn of the event loop. */
  constructor(nextTurn: () => Promise<void>, perTurn: number) {
    this.#nextTurn = nextTurn
    this.#perTurn = perTurn
  }

  /** Undefined: pass at once. */
  pass(): Promise<void> | undefined {
    if (!this.#counting) void this.#count()
    if (this.#passed < this.#perTurn) {
      this.#passed++
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Goes on as long as somebody passes. */
  async #count(): Promise<void> {
    this.#counting = true
    do {
      await this.#nextTurn()
      this.#passed = 0
      while (this.#passed < this.#perTurn && this.#first < this.#waiting.length) {
        this.#passed++
        this.#waiting[this.#first++]!()
      }
      if (this.#first === this.#waiting.length) this.#first = this.#waiting.length = 0
    } while (this.#passed > 0)
    this.#counting = false
  }
}
