/**
 * The server's end of a SPDY/3.1 connection, as far as exec, attach and port-forward use it: clients open streams, both
 * sides send data and close. No priorities and no flow control per stream, as client-go's implementation has neither: a
 * stream whose reader is behind holds its connection back.
 */
import { ByteQueue } from '../kubelets/byte-queue.ts'
import { HeaderReader, HeaderWriter, type SpdyHeaders } from './spdy-headers.ts'

const VERSION = 3
const FRAME_HEADER_BYTES = 8
const FIN = 0x01
const SYN_STREAM = 1
const SYN_REPLY = 2
const RST_STREAM = 3
const PING = 6
const GOAWAY = 7
const HEADERS = 8
/** Frames of the peer may be this long; client-go sends at most 32 KiB of data at once. */
const MOST_FRAME_BYTES = 1_048_576
/** Open at a time. */
const MOST_STREAMS = 1_000
const PROTOCOL_ERROR = 1

/** Where the bytes of the connection go: a socket, or the messages of a WebSocket. */
export interface ByteSink {
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
}

export interface SpdyStream {
  readonly id: number
  readonly headers: SpdyHeaders
  /** Ends when the client closes its side. */
  readonly input: AsyncIterable<Uint8Array>
  write(bytes: Uint8Array): Promise<void>
  /** Closes the server's side. Repeated calls do nothing. */
  close(): Promise<void>
}

class Stream implements SpdyStream {
  readonly id: number
  readonly headers: SpdyHeaders
  readonly input = new ByteQueue()
  readonly #send: (bytes: Uint8Array, flags: number) => Promise<void>
  readonly #onOver: () => void
  #closed = false
  #inputEnded = false

  /** `onOver`: both sides are closed. */
  constructor(
    id: number,
    headers: SpdyHeaders,
    send: (bytes: Uint8Array, flags: number) => Promise<void>,
    onOver: () => void,
  ) {
    this.id = id
    this.headers = headers
    this.#send = send
    this.#onOver = onOver
  }

  /** The client has closed its side. */
  endInput(): void {
    this.#inputEnded = true
    this.input.end()
    if (this.#closed) this.#onOver()
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#closed || bytes.length === 0 ? Promise.resolve() : this.#send(bytes, 0)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#send(new Uint8Array(0), FIN)
    if (this.#inputEnded) this.#onOver()
  }
}

export class SpdyConnection {
  readonly #sink: ByteSink
  readonly #onStream: (stream: SpdyStream) => void
  readonly #streams = new Map<number, Stream>()
  readonly #reader = new HeaderReader()
  readonly #writer = new HeaderWriter()
  readonly #gone = new AbortController()
  #pending: Buffer = Buffer.alloc(0)
  #work: Promise<void> = Promise.resolve()

  constructor(sink: ByteSink, onStream: (stream: SpdyStream) => void) {
    this.#sink = sink
    this.#onStream = onStream
  }

  /** Aborts when the connection is over. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Bytes from the peer, in any cut. Resolves when they have gone where they belong: more should not come before. */
  receive(bytes: Uint8Array): Promise<void> {
    this.#work = this.#work.then(() => this.#consume(bytes)).catch(() => this.close())
    return this.#work
  }

  /** Nobody reads it any more: what the client still sends on it is dropped. */
  forget(stream: SpdyStream): void {
    this.#streams.get(stream.id)?.input.end()
    this.#streams.delete(stream.id)
  }

  /** The peer is gone, or the work is done. */
  close(): void {
    if (this.#gone.signal.aborted) return
    this.#gone.abort(new Error('the connection is closed'))
    for (const stream of this.#streams.values()) stream.input.end()
    this.#streams.clear()
    this.#reader.close()
    this.#writer.close()
    this.#sink.end()
  }

  async #consume(bytes: Uint8Array): Promise<void> {
    if (this.#gone.signal.aborted) return
    this.#pending =
      this.#pending.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#pending, bytes])
    while (this.#pending.length >= FRAME_HEADER_BYTES) {
      const length = this.#pending.readUInt32BE(4) & 0xffffff
      if (length > MOST_FRAME_BYTES) throw new Error('SPDY frame is too long')
      const end = FRAME_HEADER_BYTES + length
      if (this.#pending.length < end) return
      const frame = this.#pending.subarray(0, end)
      this.#pending = this.#pending.subarray(end)
      await this.#frame(frame)
    }
  }

  async #frame(frame: Buffer): Promise<void> {
    const flags = frame[4]!
    const payload = frame.subarray(FRAME_HEADER_BYTES)
    if ((frame[0]! & 0x80) === 0) return this.#data(frame.readUInt32BE(0), payload, flags)
    if ((frame.readUInt16BE(0) & 0x7fff) !== VERSION) throw new Error('not SPDY/3.1')
    switch (frame.readUInt16BE(2)) {
      case SYN_STREAM:
        return this.#opened(payload, flags)
      case RST_STREAM: {
        const id = payload.readUInt32BE(0) & 0x7fffffff
        this.#streams.get(id)?.input.end()
        this.#streams.delete(id)
        return
      }
      case PING:
        // Even ones are answers to the server's own, of which there are none.
        if ((payload.readUInt32BE(0) & 1) === 1) await this.#control(PING, payload)
        return
      case HEADERS:
        // Not used, but the compression state must follow.
        await this.#reader.read(payload.subarray(4))
        return
      case GOAWAY:
        return this.close()
      default:
    }
  }

  #data(id: number, payload: Buffer, flags: number): Promise<void> | undefined {
    const stream = this.#streams.get(id)
    if (stream === undefined) return undefined
    stream.input.push(Buffer.from(payload))
    if ((flags & FIN) !== 0) stream.endInput()
    return stream.input.relief
  }

  async #opened(payload: Buffer, flags: number): Promise<void> {
    const id = payload.readUInt32BE(0) & 0x7fffffff
    const headers = await this.#reader.read(payload.subarray(10))
    if (this.#streams.has(id) || this.#streams.size >= MOST_STREAMS)
      return this.#reset(id, PROTOCOL_ERROR)
    const stream = new Stream(
      id,
      headers,
      (bytes, dataFlags) => this.#send(id, bytes, dataFlags),
      () => this.#streams.delete(id),
    )
    this.#streams.set(id, stream)
    if ((flags & FIN) !== 0) stream.endInput()
    const reply = await this.#writer.write(new Map())
    const streamId = Buffer.alloc(4)
    streamId.writeUInt32BE(id)
    await this.#control(SYN_REPLY, Buffer.concat([streamId, reply]))
    this.#onStream(stream)
  }

  #reset(id: number, status: number): Promise<void> {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(id)
    payload.writeUInt32BE(status, 4)
    return this.#control(RST_STREAM, payload)
  }

  #control(type: number, payload: Buffer): Promise<void> {
    const header = Buffer.alloc(FRAME_HEADER_BYTES)
    header.writeUInt16BE(0x8000 | VERSION)
    header.writeUInt16BE(type, 2)
    header.writeUInt32BE(payload.length, 4)
    return this.#sink.write(Buffer.concat([header, payload]))
  }

  async #send(id: number, bytes: Uint8Array, flags: number): Promise<void> {
    if (this.#gone.signal.aborted) return
    const header = Buffer.alloc(FRAME_HEADER_BYTES)
    header.writeUInt32BE(id)
    header.writeUInt32BE(((flags << 24) | bytes.length) >>> 0, 4)
    await this.#sink.write(Buffer.concat([header, bytes]))
  }
}
