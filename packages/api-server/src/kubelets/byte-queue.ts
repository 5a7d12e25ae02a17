/** Bytes on their way to one reader, who may be slower than they come. */

/** Who pushes waits while the reader is behind by more. */
const COMFORTABLE_BYTES = 1_048_576

export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = []
  #ended = false
  #wake: (() => void) | undefined
  #waitingBytes = 0
  #relieved: PromiseWithResolvers<void> | undefined

  /** What nobody has read yet. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Undefined: push on. Else resolves when the reader has caught up, or nothing is taken any more. */
  get relief(): Promise<void> | undefined {
    if (this.#ended || this.#waitingBytes <= COMFORTABLE_BYTES) return undefined
    this.#relieved ??= Promise.withResolvers()
    return this.#relieved.promise
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
    this.#relieve()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  #relieve(): void {
    this.#relieved?.resolve()
    this.#relieved = undefined
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          this.#waitingBytes -= chunk.length
          if (this.#waitingBytes <= COMFORTABLE_BYTES) this.#relieve()
          yield chunk
        } else if (this.#ended) return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      // A reader that leaves takes nothing any more: what it left would only be kept.
      this.#chunks.length = 0
      this.#waitingBytes = 0
      this.end()
    }
  }
}
