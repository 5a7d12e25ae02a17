import type { Socket } from 'node:net'
import { FrameReader, streamIdAt } from '../http2/frame-reader.ts'
import type { FrameHandler } from '../http2/frame-reader.ts'
import { FrameWriter } from '../http2/frame-writer.ts'
import { HpackDecoder } from '../http2/hpack-decoder.ts'
import {
  DEFAULT_WINDOW_BYTES,
  ERROR_CODE,
  FRAME,
  Http2ProtocolError,
  LARGEST_STREAM_ID,
  LARGEST_WINDOW_BYTES,
  PREFACE,
  SETTING,
  errorCodeName,
} from '../http2/protocol.ts'
import type { ErrorCodeName } from '../http2/protocol.ts'
import { TransportError } from '../transport.ts'
import {
  closedHere,
  lostBy,
  lostError,
  notProcessed,
  resetBy,
  unsendable,
  violation,
  windowTooLarge,
  wrongSize,
} from './http2-failures.ts'
import { ControlFrames } from './http2-control-frames.ts'
import type { GoAway } from './http2-control-frames.ts'
import { HeaderBlocks } from './http2-header-blocks.ts'
import { ConnectionHealth } from './http2-health.ts'
import type { HealthOptions } from './http2-health.ts'
import { Http2Sender } from './http2-sender.ts'
import { Http2Stream } from './http2-stream.ts'
import type { Connection, Exchange, WireAnswer } from './connection.ts'
import type { Receive } from './socket-reads.ts'

const STREAM_WINDOW_BYTES = 4 << 20
// As Go: in effect unlimited, so that a watch nobody reads cannot hold up the others. Each stream still has its own window.
const CONNECTION_WINDOW_BYTES = 1 << 30
const HEADER_LIST_BYTES_MAX = 1 << 20
const SETTINGS_TIMEOUT_MS = 10_000

/** A socket, and what hands on the bytes that it receives. */
interface Wire {
  readonly socket: Socket
  readonly receive: Receive
}

interface Http2Options extends HealthOptions {
  onClosed(): void
}

/**
 * One HTTP/2 connection (RFC 9113), on a socket that is past its handshake. Keeps the process alive only while exchanges are under
 * way. Why it is not node:http2: docs/decisions/0019-own-http2-framing.md.
 */
export class Http2Connection implements Connection, FrameHandler {
  readonly #socket: Socket
  readonly #options: Http2Options
  readonly #authority: string
  readonly #reader: FrameReader = new FrameReader(this)
  readonly #writer: FrameWriter
  readonly #blocks: HeaderBlocks
  readonly #decoder = new HpackDecoder(HEADER_LIST_BYTES_MAX)
  readonly #sender: Http2Sender
  readonly #health: ConnectionHealth
  readonly #control: ControlFrames
  readonly #streams = new Map<number, Http2Stream>()
  #nextStreamId = 1
  #draining = false
  #closed = false
  #lost: TransportError | undefined
  /** How much the server may send before it hears of more. */
  #receiveWindow = CONNECTION_WINDOW_BYTES

  /** Whose DATA is coming; undefined: of a stream that is over. */
  #receiving: Http2Stream | undefined

  constructor({ socket, receive }: Wire, server: URL, options: Http2Options) {
    this.#socket = socket
    this.#options = options
    this.#authority = server.host
    this.#blocks = new HeaderBlocks(
      HEADER_LIST_BYTES_MAX,
      (streamId, endsStream, bytes, start, end) =>
        this.#onBlock(streamId, endsStream, bytes, start, end),
    )
    this.#health = new ConnectionHealth(options, {
      ping: () => this.#control.ping(),
      onDead: (text) => {
        this.#lost = lostError('HTTP2_CONNECTION_LOST', text)
        this.#end(undefined)
      },
    })
    this.#writer = new FrameWriter(socket, () => this.#control.repliesTaken())
    this.#sender = new Http2Sender(this.#writer, this.#authority)
    this.#control = new ControlFrames({
      writer: this.#writer,
      sender: this.#sender,
      health: this.#health,
      streams: this.#streams,
    })
    this.#writer.raw(PREFACE)
    this.#writer.settings([
      [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
      [SETTING.maxHeaderListSize, HEADER_LIST_BYTES_MAX],
    ])
    this.#writer.windowUpdate(0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES)
    this.#writer.flush()
    socket.on('error', (error) => this.#end(lostBy(this.#authority, error)))
    socket.on('end', () => this.#end(undefined))
    socket.once('close', () => this.#end(undefined))
    receive((bytes) => this.#onData(bytes))
  }

  /**
   * Resolves when the server's SETTINGS are here. Requests sent earlier, as many as wait for a new connection at the start of a
   * process, would go beyond a limit that nobody knows yet and be refused.
   */
  async ready(): Promise<void> {
    const timer = this.#options.clock.after(SETTINGS_TIMEOUT_MS, () => {
      const seconds = SETTINGS_TIMEOUT_MS / 1000
      const text = `connection to ${this.#authority}: no SETTINGS in ${seconds}s`
      this.#end(new TransportError('ETIMEDOUT', text))
    })
    try {
      await this.#control.settled
    } finally {
      timer.cancel()
      if (this.#streams.size === 0) this.#socket.unref()
    }
  }

  get openExchanges(): number {
    return this.#streams.size
  }

  /** It can take one more exchange now. */
  get available(): boolean {
    return !this.#draining && this.#streams.size < this.#control.streamsMax
  }

  start(exchange: Exchange): Promise<WireAnswer> {
    if (!this.available) return Promise.reject(notProcessed(exchange.what))
    const problem = unsendable(exchange)
    if (problem !== undefined) {
      const text = `${exchange.what}: ${problem} has characters that HTTP does not allow`
      return Promise.reject(new TransportError('HTTP2_STREAM_ERROR', text))
    }
    const stream = new Http2Stream(this.#nextStreamId, exchange, this, {
      send: this.#sender.streamWindowBytes,
      receive: STREAM_WINDOW_BYTES,
    })
    this.#nextStreamId += 2
    if (this.#nextStreamId > LARGEST_STREAM_ID) this.#draining = true
    this.#streams.set(stream.id, stream)
    if (this.#streams.size === 1) this.#busy()
    this.#sender.head(stream)
    if (stream.unsentBytes > 0) this.#sender.body(stream)
    return stream.answer
  }

  drain(): void {
    this.#draining = true
    if (this.#streams.size === 0) this.#close()
  }

  retire(): void {
    for (const stream of this.#streams.values())
      if (stream.exchange.request.longRunning === true)
        this.#breakOff(stream, 'CANCEL', closedHere(stream.exchange.what))
    this.drain()
  }

  destroy(): void {
    this.#end(closedHere(`connection to ${this.#authority}`))
  }

  /** Its reader wants no more of it, or its caller. */
  cancel(stream: Http2Stream): void {
    if (!this.#streams.has(stream.id)) return
    this.#reset(stream.id, 'CANCEL')
    this.#remove(stream)
  }

  /** The server may send more of it. */
  widen(stream: Http2Stream, bytes: number): void {
    if (this.#streams.has(stream.id)) this.#writer.windowUpdate(stream.id, bytes)
  }

  onFrame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void {
    if (!this.#control.hasSettings && type !== FRAME.settings)
      throw violation('no SETTINGS at first')
    this.#blocks.expect(type, streamId)
    switch (type) {
      case FRAME.headers:
        return this.#blocks.begin(flags, streamId, bytes, start, end)
      case FRAME.continuation:
        return this.#blocks.goOn(flags, bytes, start, end)
      case FRAME.windowUpdate:
        return this.#onWindowUpdate(streamId, bytes, start, end)
      case FRAME.rstStream:
        return this.#onReset(streamId, bytes, start, end)
      case FRAME.settings:
        return this.#control.onSettings(flags, streamId, bytes, start, end)
      case FRAME.ping:
        return this.#control.onPing(flags, streamId, bytes, start, end)
      case FRAME.goAway:
        return this.#onGoAway(this.#control.goAwayOf(streamId, bytes, start, end))
      case FRAME.pushPromise:
        throw violation('PUSH_PROMISE, which was forbidden')
      default:
      // PRIORITY, and what later versions add.
    }
  }

  onDataFrame(streamId: number, length: number): void {
    if (!this.#control.hasSettings || this.#blocks.isOpen) throw violation('DATA out of its place')
    this.#receiveWindow -= length
    if (this.#receiveWindow < 0)
      throw new Http2ProtocolError('FLOW_CONTROL_ERROR', 'more DATA than the window allows')
    if (this.#receiveWindow < CONNECTION_WINDOW_BYTES / 2) {
      this.#writer.windowUpdate(0, CONNECTION_WINDOW_BYTES - this.#receiveWindow)
      this.#receiveWindow = CONNECTION_WINDOW_BYTES
    }
    this.#receiving = this.#streamOf(streamId)
    const problem = this.#receiving?.receives(length)
    if (problem !== undefined) this.#fault(this.#receiving!, problem)
  }

  onDataPiece(piece: Buffer): void {
    const problem = this.#receiving?.push(piece)
    if (problem !== undefined) this.#fault(this.#receiving!, problem)
  }

  onDataEnd(endsStream: boolean): void {
    const stream = this.#receiving
    this.#receiving = undefined
    if (endsStream && stream !== undefined && this.#streams.has(stream.id))
      this.#onStreamEnd(stream)
  }

  #onData(chunk: Buffer): void {
    this.#health.heard()
    try {
      this.#reader.push(chunk)
    } catch (error) {
      if (!(error instanceof Http2ProtocolError)) throw error
      this.#writer.goAway(0, ERROR_CODE[error.code])
      this.#writer.flush()
      const text = `http2: the server broke the protocol: ${error.message}`
      this.#end(
        lostError('HTTP2_CONNECTION_LOST', `connection to ${this.#authority}: ${text}`, error),
      )
    }
  }

  #onBlock(streamId: number, endsStream: boolean, bytes: Buffer, start: number, end: number): void {
    const stream = this.#streamOf(streamId)
    if (stream === undefined) {
      // Its table must be kept up all the same.
      this.#decoder.decode(bytes, start, end, () => {})
      return
    }
    stream.beginFields()
    this.#decoder.decode(bytes, start, end, stream.onField)
    const problem = stream.endFields(endsStream)
    if (problem !== undefined) this.#fault(stream, problem)
    else if (endsStream) this.#onStreamEnd(stream)
  }

  #onStreamEnd(stream: Http2Stream): void {
    const problem = stream.problemAtEnd()
    if (problem !== undefined) return this.#fault(stream, problem)
    // Answered before it had the whole request: it wants no more of it.
    if (stream.unsentBytes > 0) this.#reset(stream.id, 'NO_ERROR')
    stream.finish(undefined)
    this.#remove(stream)
  }

  #onReset(streamId: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw wrongSize('RST_STREAM')
    const stream = this.#streamOf(streamId)
    if (stream === undefined) return
    stream.finish(resetBy(bytes.readUInt32BE(start), stream))
    this.#remove(stream)
  }

  #onWindowUpdate(streamId: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw wrongSize('WINDOW_UPDATE')
    const increment = streamIdAt(bytes, start)
    if (streamId === 0) {
      if (increment === 0) throw violation('WINDOW_UPDATE of nothing')
      return this.#sender.widen(increment)
    }
    const stream = this.#streamOf(streamId)
    if (stream === undefined) return
    stream.sendWindow += increment
    if (increment === 0) this.#fault(stream, violation('WINDOW_UPDATE of nothing'))
    else if (stream.sendWindow > LARGEST_WINDOW_BYTES) this.#fault(stream, windowTooLarge())
    else if (stream.unsentBytes > 0) this.#sender.body(stream)
  }

  #onGoAway({ lastId, code }: GoAway): void {
    this.#draining = true
    if (code !== ERROR_CODE.NO_ERROR)
      this.#lost ??= lostError(
        'HTTP2_CONNECTION_LOST',
        `http2: server sent GOAWAY with error code ${errorCodeName(code)}`,
      )
    for (const stream of this.#streams.values()) {
      if (stream.id <= lastId) continue
      stream.finish(notProcessed(stream.exchange.what))
      this.#remove(stream)
    }
    if (this.#streams.size === 0) this.#close()
  }

  /** Undefined for one that is over. Of streams that never were, nothing may come. */
  #streamOf(id: number): Http2Stream | undefined {
    const stream = this.#streams.get(id)
    if (stream === undefined && (id % 2 === 0 || id >= this.#nextStreamId))
      throw violation(`a frame of stream ${id}, which was never opened`)
    return stream
  }

  /** The server broke the rules for one stream. */
  #fault(stream: Http2Stream, problem: Http2ProtocolError): void {
    const text = `${stream.exchange.what}: http2: ${problem.message}`
    this.#breakOff(
      stream,
      problem.code,
      new TransportError('HTTP2_STREAM_ERROR', text, { cause: problem }),
    )
  }

  #breakOff(stream: Http2Stream, code: ErrorCodeName, failure: TransportError): void {
    this.#reset(stream.id, code)
    stream.finish(failure)
    this.#remove(stream)
  }

  #reset(streamId: number, code: ErrorCodeName): void {
    this.#writer.rstStream(streamId, ERROR_CODE[code])
  }

  #busy(): void {
    this.#socket.ref()
    this.#health.begin()
  }

  #remove(stream: Http2Stream): void {
    if (!this.#streams.delete(stream.id)) return
    this.#sender.forget(stream)
    if (this.#receiving === stream) this.#receiving = undefined
    if (this.#streams.size > 0 || this.#closed) return
    this.#health.end()
    if (this.#draining) this.#close()
    else this.#socket.unref()
  }

  /** In peace: nobody uses it any more. */
  #close(): void {
    if (this.#closed) return
    this.#writer.goAway(0, ERROR_CODE.NO_ERROR)
    this.#writer.flush()
    // Nobody waits for the server to close its side.
    this.#socket.unref()
    this.#socket.destroySoon()
    this.#end(undefined, true)
  }

  /** Whatever is under way has failed; for the reason that came first. */
  #end(reason: TransportError | undefined, isPeaceful = false): void {
    if (this.#closed) return
    this.#closed = true
    this.#draining = true
    this.#lost ??= reason
    this.#health.stop()
    this.#reader.stop()
    this.#writer.close()
    this.#sender.stop()
    this.#control.giveUp(
      this.#lost ??
        lostError('EOF', `connection to ${this.#authority}: closed before its SETTINGS`),
    )
    for (const stream of this.#streams.values()) stream.finish(this.#lossOf(stream.exchange))
    this.#streams.clear()
    // At once: a server that takes no more bytes would keep the socket for ever. In peace it ends as soon as they are sent.
    if (!isPeaceful) this.#socket.destroy()
    this.#options.onClosed()
  }

  #lossOf({ what }: Exchange): TransportError {
    const lost = this.#lost
    return lost === undefined
      ? lostError('EOF', `${what}: connection closed: unexpected EOF`)
      : new TransportError(lost.code, `${what}: ${lost.message}`, { cause: lost })
  }
}
