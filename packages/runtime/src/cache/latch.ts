/** Opens once. Waiting for it needs no polling. */
export class Latch {
  #open = false
  readonly #waiting = new Set<() => void>()

  get isOpen(): boolean {
    return this.#open
  }

  open(): void {
    if (this.#open) return
    this.#open = true
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** True once it is open, false when `signal` aborts first. */
  async opened(signal: AbortSignal): Promise<boolean> {
    if (this.#open || signal.aborted) return this.#open
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
    return this.#open
  }
}
