/** Work that may be made to stand still: many are inside at a time, or one who paused them. */
export class PauseGate {
  #inside = 0
  #opened: Promise<void> | undefined
  #whenEmpty: (() => void) | undefined

  /** Runs `work`, after the pause if there is one. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#opened !== undefined) await this.#opened
    this.#inside++
    try {
      return await work()
    } finally {
      if (--this.#inside === 0) this.#whenEmpty?.()
    }
  }

  /** Runs `change` while nobody is inside; who is, is waited for. One at a time. */
  async pauseFor<T>(change: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#opened = promise
    try {
      if (this.#inside > 0) await new Promise<void>((empty) => (this.#whenEmpty = empty))
      return await change()
    } finally {
      this.#whenEmpty = undefined
      this.#opened = undefined
      resolve()
    }
  }
}
