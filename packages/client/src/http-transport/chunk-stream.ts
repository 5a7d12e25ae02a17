import { Fifo } from '@gyropilot/foundation'
import type { BodyChunks } from '../transport.ts'

const PAUSE_ABOVE_BYTES = 1 << 20

export interface ChunkSource {
  pause(): void
  resume(): void
  /** The reader wants no more. */
  cancel(): void
}

/** Bytes on their way from a connection to one reader. Asks the connection to pause above 1 MiB. */
export class ChunkStream implements BodyChunks {
  /** Most bodies are one chunk, for which there need be no queue. */
  #first: Uint8Array | undefined
  #later: Fifo<Uint8Array> | undefined
  readonly #source: ChunkSource
  #queuedBytes = 0
  #paused = false
  #ended = false
  #failure: Error | undefined
  #isWhole = false
  #waitingForAll: { resolve(bytes: Uint8Array): void; reject(error: Error): void } | undefined
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
    if (this.#first === undefined) this.#first = chunk
    else (this.#later ??= new Fifo()).push(chunk)
    this.#queuedBytes += chunk.length
    if (!this.#paused && !this.#isWhole && this.#queuedBytes > PAUSE_ABOVE_BYTES) {
      this.#paused = true
      this.#source.pause()
    }
  }

  /** All of the body at once, however long; instead of reading its chunks. Rejects with the failure. */
  whole(): Promise<Uint8Array> {
    this.#isWhole = true
    this.#resumeIfPaused()
    if (this.#ended && this.#failure === undefined) return Promise.resolve(this.#takeAll())
    if (this.#ended) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waitingForAll = { resolve, reject }
    })
  }

  /** No more bytes. The reader is first given what is queued, then the end, or the failure once. */
  finish(failure?: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#failure = failure
    if (this.#waitingForAll !== undefined) {
      if (failure === undefined) this.#waitingForAll.resolve(this.#takeAll())
      else this.#waitingForAll.reject(failure)
      return
    }
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
        this.#first = undefined
        this.#later = undefined
        if (!this.#ended) {
          this.finish()
          this.#source.cancel()
        }
        return { done: true, value: undefined }
      },
    }
  }

  #takeAll(): Uint8Array {
    const pieces: Uint8Array[] = []
    if (this.#first !== undefined) pieces.push(this.#first)
    for (let piece; (piece = this.#later?.shift()) !== undefined;) pieces.push(piece)
    this.#first = undefined
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  #resumeIfPaused(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#source.resume()
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#first
    if (chunk !== undefined) {
      this.#first = this.#later?.shift()
      if (this.#first === undefined) this.#later = undefined
      this.#queuedBytes -= chunk.length
      if (this.#queuedBytes === 0) this.#resumeIfPaused()
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
