import type { FrameWriter } from '../http2/frame-writer.ts'
import { HpackEncoder } from '../http2/hpack-encoder.ts'
import {
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  LARGEST_WINDOW_BYTES,
} from '../http2/protocol.ts'
import { windowTooLarge } from './http2-failures.ts'
import type { Http2Stream } from './http2-stream.ts'

/** Sends requests within what the server takes: RFC 9113, section 5.2. */
export class Http2Sender {
  /** Of a stream that begins: what the server's SETTINGS say. */
  streamWindowBytes = DEFAULT_WINDOW_BYTES
  frameBytesMax = DEFAULT_FRAME_BYTES
  readonly #writer: FrameWriter
  readonly #authority: string
  readonly #encoder = new HpackEncoder()
  /** Have a body that is not sent whole. */
  readonly #sending = new Set<Http2Stream>()
  /** How much the server takes now, of all streams together. */
  #window = DEFAULT_WINDOW_BYTES

  constructor(writer: FrameWriter, authority: string) {
    this.#writer = writer
    this.#authority = authority
  }

  set headerTableBytesMax(bytes: number) {
    this.#encoder.tableBytesMax = bytes
  }

  head(stream: Http2Stream): void {
    const { exchange } = stream
    const encoder = this.#encoder
    encoder.begin()
    encoder.add(':method', exchange.request.method)
    encoder.add(':scheme', 'https')
    encoder.add(':authority', this.#authority)
    encoder.add(':path', exchange.path)
    for (const name in exchange.headers) {
      const value = exchange.headers[name]!
      if (typeof value === 'string') encoder.add(name, value)
      else for (const one of value) encoder.add(name, one)
    }
    const isWhole = stream.unsentBytes === 0
    this.#writer.headers(stream.id, encoder.end(), isWhole, this.frameBytesMax)
  }

  /** As much as the windows allow; the rest when they are wider. */
  body(stream: Http2Stream): void {
    const body = stream.exchange.body!
    while (stream.unsentBytes > 0) {
      const length = Math.min(
        stream.unsentBytes,
        stream.sendWindow,
        this.#window,
        this.frameBytesMax,
      )
      if (length <= 0) return void this.#sending.add(stream)
      const start = body.length - stream.unsentBytes
      stream.unsentBytes -= length
      stream.sendWindow -= length
      this.#window -= length
      this.#writer.data(stream.id, body, start, start + length, stream.unsentBytes === 0)
    }
    this.#sending.delete(stream)
  }

  /** The server takes so many bytes more, of all streams together. */
  widen(bytes: number): void {
    this.#window += bytes
    if (this.#window > LARGEST_WINDOW_BYTES) throw windowTooLarge()
    this.goOn()
  }

  /** With the bodies that wait. */
  goOn(): void {
    for (const stream of this.#sending) {
      if (this.#window <= 0) return
      this.body(stream)
    }
  }

  forget(stream: Http2Stream): void {
    this.#sending.delete(stream)
  }

  stop(): void {
    this.#sending.clear()
  }
}
