import { streamIdAt } from '../http2/frame-reader.ts'
import type { FrameWriter } from '../http2/frame-writer.ts'
import {
  DEFAULT_FRAME_BYTES,
  FLAG,
  Http2ProtocolError,
  LARGEST_WINDOW_BYTES,
  SETTING,
} from '../http2/protocol.ts'
import { violation, windowTooLarge, wrongSize } from './http2-failures.ts'
import type { ConnectionHealth } from './http2-health.ts'
import type { Http2Sender } from './http2-sender.ts'
import type { Http2Stream } from './http2-stream.ts'

/** RFC 9113 recommends no smaller limit; for servers whose SETTINGS name none. */
const STREAMS_WITHOUT_LIMIT = 100
/** Answers to PING and SETTINGS that the server does not take off the connection. */
const REPLIES_MAX = 1000
const PING_BYTES = Buffer.from('gyroping')

interface ControlFramesOptions {
  readonly writer: FrameWriter
  readonly sender: Http2Sender
  readonly health: ConnectionHealth
  /** Those under way: their windows follow the server's settings. */
  readonly streams: ReadonlyMap<number, Http2Stream>
}

/** What GOAWAY says: nothing above `lastId` was looked at, nor will it be (RFC 9113, section 6.8). */
export interface GoAway {
  readonly lastId: number
  readonly code: number
}

/** Frames about the connection as a whole: SETTINGS and PING, which are answered here, and what GOAWAY says. */
export class ControlFrames {
  readonly #options: ControlFramesOptions
  readonly #first = Promise.withResolvers<void>()
  #hasSettings = false
  #streamsMax = STREAMS_WITHOUT_LIMIT
  #repliesWaiting = 0

  constructor(options: ControlFramesOptions) {
    this.#options = options
    // Whoever waits for them hears of it; after that nobody does.
    this.#first.promise.catch(() => {})
  }

  /** Resolves with the first SETTINGS, rejects when the connection is given up before. */
  get settled(): Promise<void> {
    return this.#first.promise
  }

  get hasSettings(): boolean {
    return this.#hasSettings
  }

  get streamsMax(): number {
    return this.#streamsMax
  }

  giveUp(reason: Error): void {
    this.#first.reject(reason)
  }

  ping(): void {
    this.#options.writer.ping(PING_BYTES, false)
  }

  /** Everything written has been taken off the connection. */
  repliesTaken(): void {
    this.#repliesWaiting = 0
  }

  onSettings(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    if (streamId !== 0) throw violation('SETTINGS of a stream')
    if (flags & FLAG.ack) {
      if (start !== end) throw wrongSize('SETTINGS')
      if (!this.#hasSettings) throw violation('no SETTINGS at first')
      return
    }
    if ((end - start) % 6 !== 0) throw wrongSize('SETTINGS')
    for (let at = start; at < end; at += 6)
      this.#onSetting(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2))
    this.#options.writer.settingsAck()
    this.#replied()
    if (!this.#hasSettings) {
      this.#hasSettings = true
      this.#first.resolve()
    }
    this.#options.sender.goOn()
  }

  #onSetting(name: number, value: number): void {
    const { sender, streams } = this.#options
    if (name === SETTING.headerTableSize) sender.headerTableBytesMax = value
    else if (name === SETTING.maxConcurrentStreams) this.#streamsMax = value
    else if (name === SETTING.initialWindowSize) {
      if (value > LARGEST_WINDOW_BYTES) throw windowTooLarge()
      for (const stream of streams.values()) {
        stream.sendWindow += value - sender.streamWindowBytes
        if (stream.sendWindow > LARGEST_WINDOW_BYTES) throw windowTooLarge()
      }
      sender.streamWindowBytes = value
    } else if (name === SETTING.maxFrameSize) {
      if (value < DEFAULT_FRAME_BYTES || value > 0xff_ffff)
        throw violation(`frames of ${value} bytes`)
      sender.frameBytesMax = value
    } else if (name === SETTING.enablePush && value !== 0)
      throw violation('a server that enables push')
  }

  onPing(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    if (streamId !== 0) throw violation('PING of a stream')
    if (end - start !== 8) throw wrongSize('PING')
    const { writer, health, streams } = this.#options
    if (!(flags & FLAG.ack)) {
      writer.ping(bytes.subarray(start, end), true)
      return this.#replied()
    }
    if (bytes.compare(PING_BYTES, 0, 8, start, end) === 0) health.answered(streams.size > 0)
  }

  goAwayOf(streamId: number, bytes: Buffer, start: number, end: number): GoAway {
    if (streamId !== 0) throw violation('GOAWAY of a stream')
    if (end - start < 8) throw wrongSize('GOAWAY')
    return { lastId: streamIdAt(bytes, start), code: bytes.readUInt32BE(start + 4) }
  }

  #replied(): void {
    if (++this.#repliesWaiting > REPLIES_MAX)
      throw new Http2ProtocolError(
        'ENHANCE_YOUR_CALM',
        'more PING and SETTINGS than answers are read',
      )
  }
}
