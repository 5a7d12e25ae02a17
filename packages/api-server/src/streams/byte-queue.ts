/** Bytes on their way to one reader, who may be slower than they come. */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = []
  #ended = false
  #wake: (() => void) | undefined
  #waitingBytes = 0

  /** What nobody has read yet. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  push(chunk: Uint8Array): void {
    if (this.#ended || chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#waitingBytes += chunk.length
    this.#wakeUp()
  }

  end(): void {
    this.#ended = true
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#waitingBytes -= chunk.length
        yield chunk
      } else if (this.#ended) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
