import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import type { Decoding } from '../answers/decode-object.ts'
import { WatchDecoder } from './watch-decoder.ts'

type Event = WatchEvent<KubernetesObject>

const DONE = { done: true, value: undefined } as const

/**
 * The events in the bytes of a watch, for one reader that asks for one at a time. A piece of bytes often has many events, and there are
 * as many watches as kinds: what is decoded is there to be taken without a promise for each, and no piece is held once it is decoded,
 * as the variables of a generator that waits would. Breaking off the loop breaks off the body.
 */
export class DecodedEvents implements AsyncIterableIterator<Event, undefined> {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #decoder: WatchDecoder
  readonly #conclude: (fault: unknown) => Event | undefined
  #events: Event[] = []
  #taken = 0
  /** Nothing more is read. */
  #ended = false
  #fault: { readonly error: unknown } | undefined

  /** `conclude` is told of what ended it, after all events before: it answers a last event, or none, or throws. */
  constructor(
    chunks: AsyncIterable<Uint8Array>,
    decoding: Decoding,
    conclude: (fault: unknown) => Event | undefined,
  ) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#decoder = new WatchDecoder((event) => this.#events.push(event), decoding)
    this.#conclude = conclude
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The next one, if it has been read. */
  take(): Event | undefined {
    if (this.#taken === this.#events.length) return undefined
    const event = this.#events[this.#taken++]
    if (this.#taken === this.#events.length) {
      this.#events = []
      this.#taken = 0
    }
    return event
  }

  async next(): Promise<IteratorResult<Event, undefined>> {
    for (;;) {
      const event = this.take()
      if (event !== undefined) return { done: false, value: event }
      if (this.#ended) return this.#end()
      try {
        const { done, value } = await this.#chunks.next()
        // The reader gave it up in the meantime.
        if (this.#ended) return DONE
        if (done === true) this.#ended = true
        else if (!this.#decodes(value)) await this.#chunks.return?.()
        if (done === true) this.#decoder.end()
      } catch (error) {
        this.#ended = true
        this.#fault ??= { error }
      }
    }
  }

  async return(): Promise<IteratorResult<Event, undefined>> {
    this.#ended = true
    this.#fault = undefined
    this.#events = []
    this.#taken = 0
    await this.#chunks.return?.()
    return DONE
  }

  /** What came before a fault is good and is delivered. */
  #decodes(chunk: Uint8Array): boolean {
    try {
      this.#decoder.push(chunk)
      return true
    } catch (error) {
      this.#ended = true
      this.#fault = { error }
      return false
    }
  }

  #end(): IteratorResult<Event, undefined> {
    const fault = this.#fault
    if (fault === undefined) return DONE
    this.#fault = undefined
    const last = this.#conclude(fault.error)
    return last === undefined ? DONE : { done: false, value: last }
  }
}

/** Decodes a whole body; a fault rejects. */
export function decodeWatch(
  chunks: AsyncIterable<Uint8Array>,
  decoding: Decoding = 'whole',
): DecodedEvents {
  return new DecodedEvents(chunks, decoding, (fault) => {
    throw fault
  })
}

/** The next event of a watch that was decoded already; undefined: it has to be waited for. */
export function takeDecoded<T extends KubernetesObject>(
  events: AsyncIterator<WatchEvent<T>>,
): WatchEvent<T> | undefined {
  return events instanceof DecodedEvents ? (events.take() as WatchEvent<T> | undefined) : undefined
}
