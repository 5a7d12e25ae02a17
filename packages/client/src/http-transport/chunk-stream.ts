import { Deque } from '@gyropilot/foundation'

const PAUSE_ABOVE_BYTES = 1 << 20

export interface ChunkSource {
  pause(): void
  resume(): void
  /** The reader wants no more. */
  cancel(): void
}

/** Bytes on their way from a connection to one reader. Asks the connection to pause above 1 MiB. */
export class ChunkStream implements AsyncIterable<Uint8Array> {
  readonly #chunks = new Deque<Uint8Array>()
  readonly #source: ChunkSource
  #queuedBytes = 0
  #paused = false
  #ended = false
  #failure: Error | undefined
  #waiting:
    | { resolve(result: IteratorResult<Uint8Array>): void; reject(error: Error): void }
    | undefined

  constructor(source: ChunkSource) {
    this.#source = source
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return
    if (this.#waiting !== undefined) {
      const { resolve } = this.#waiting
      this.#waiting = undefined
      resolve({ done: false, value: chunk })
      return
    }
    this.#chunks.pushBack(chunk)
    this.#queuedBytes += chunk.length
    if (!this.#paused && this.#queuedBytes > PAUSE_ABOVE_BYTES) {
      this.#paused = true
      this.#source.pause()
    }
  }

  /** No more bytes. The reader is first given what is queued, then the end, or the failure once. */
  finish(failure?: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#failure = failure
    if (this.#waiting === undefined) return
    const { resolve, reject } = this.#waiting
    this.#waiting = undefined
    this.#failure = undefined
    if (failure === undefined) resolve({ done: true, value: undefined })
    else reject(failure)
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#chunks.clear()
        if (!this.#ended) {
          this.finish()
          this.#source.cancel()
        }
        return { done: true, value: undefined }
      },
    }
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#chunks.popFront()
    if (chunk !== undefined) {
      this.#queuedBytes -= chunk.length
      if (this.#paused && this.#queuedBytes === 0) {
        this.#paused = false
        this.#source.resume()
      }
      return Promise.resolve({ done: false, value: chunk })
    }
    if (this.#ended) {
      const failure = this.#failure
      this.#failure = undefined
      return failure === undefined
        ? Promise.resolve({ done: true, value: undefined })
        : Promise.reject(failure)
    }
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }
}
