/** The input of a terminal: Ctrl-C stops what is waiting, as a terminal's driver would, and is typed text otherwise. */
import { anySignal } from '@gyropilot/foundation'
import { Interrupted } from '../shell/process.ts'

const CTRL_C = 3
/** Pieces that wait for a reader; more are left to the connection. Ctrl-C behind them is not seen either. */
const MOST_TYPED = 1_000

export class Keyboard implements AsyncIterable<Uint8Array> {
  readonly #typed: Uint8Array[] = []
  #ended = false
  #failure: unknown
  #wake: () => void = () => {}
  #relieved: () => void = () => {}
  #foreground: AbortController | undefined

  constructor(input: AsyncIterable<Uint8Array>) {
    void this.#read(input)
  }

  /**
   * `wait` ends early, with Interrupted as the signal's reason, when Ctrl-C is typed meanwhile. It does not begin when that was
   * typed before: whoever waits now was at work then, and has not read it.
   */
  async interruptible(
    signal: AbortSignal,
    wait: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (this.#takeInterrupt()) throw new Interrupted('Ctrl-C')
    const foreground = new AbortController()
    this.#foreground = foreground
    using either = anySignal([signal, foreground.signal])
    try {
      await wait(either.signal)
    } finally {
      this.#foreground = undefined
    }
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    for (;;) {
      for (let chunk = this.#typed.shift(); chunk !== undefined; chunk = this.#typed.shift()) {
        if (this.#typed.length < MOST_TYPED) this.#relieved()
        yield chunk
      }
      if (this.#failure !== undefined) throw this.#failure
      if (this.#ended) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** What was typed before it is thrown away. */
  #takeInterrupt(): boolean {
    const at = this.#typed.findLastIndex((chunk) => chunk.includes(CTRL_C))
    if (at < 0) return false
    const [last] = this.#typed.splice(0, at + 1).slice(-1)
    const rest = last!.subarray(last!.lastIndexOf(CTRL_C) + 1)
    if (rest.length > 0) this.#typed.unshift(rest)
    this.#relieved()
    return true
  }

  async #read(input: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of input) {
        const at = this.#foreground === undefined ? -1 : chunk.indexOf(CTRL_C)
        if (at >= 0) this.#foreground?.abort(new Interrupted('Ctrl-C'))
        // What was typed before is thrown away, as the terminal does.
        const rest = chunk.subarray(at + 1)
        if (rest.length > 0) this.#typed.push(rest)
        this.#wake()
        if (this.#typed.length < MOST_TYPED) continue
        await new Promise<void>((resolve) => (this.#relieved = resolve))
      }
    } catch (error) {
      // A connection that broke is the reader's to hear of; while nobody reads, nobody has to.
      this.#failure = error
    }
    this.#ended = true
    this.#wake()
  }
}
