/** Bytes of a connection to frames: RFC 9113, section 4. */
import {
  DEFAULT_FRAME_BYTES,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  Http2ProtocolError,
} from './protocol.ts'

export interface FrameHandler {
  /** A frame that is not DATA. The payload is `bytes[start, end)`, for the time of the call. */
  onFrame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void
  /** A DATA frame has begun. `length` is what it takes from the windows, with its padding. */
  onDataFrame(streamId: number, length: number): void
  /** A part of what is in it, not copied. */
  onDataPiece(piece: Buffer): void
  /** It is over, with its padding. */
  onDataEnd(endsStream: boolean): void
}

/** Takes bytes in pieces of any size. What lies in one piece is not copied, and DATA is handed on as it comes. */
export class FrameReader {
  readonly #handler: FrameHandler
  readonly #frameBytesMax: number
  /** The beginning of a frame whose end has not come. */
  readonly #held: Buffer
  #heldBytes = 0
  #inData = false
  #endsStream = false
  #padLengthDue = false
  #contentLeft = 0
  #paddingLeft = 0
  #stopped = false

  /** `frameBytesMax`: of a payload, as this side's SETTINGS say. */
  constructor(handler: FrameHandler, frameBytesMax = DEFAULT_FRAME_BYTES) {
    this.#handler = handler
    this.#frameBytesMax = frameBytesMax
    this.#held = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + frameBytesMax)
  }

  /** Nothing more is handed on. */
  stop(): void {
    this.#stopped = true
  }

  /** Throws Http2ProtocolError, also one of the handler; the connection is of no use then. */
  push(chunk: Buffer): void {
    const end = chunk.length
    let at = 0
    while (at < end && !this.#stopped) {
      if (this.#inData) at = this.#readData(chunk, at)
      else if (this.#heldBytes > 0) at = this.#fillHeld(chunk, at)
      else at = this.#readFrame(chunk, at)
    }
  }

  #readFrame(chunk: Buffer, at: number): number {
    const have = chunk.length - at
    if (have < FRAME_HEADER_BYTES) return this.#hold(chunk, at)
    const length = this.#payloadBytes(chunk, at)
    if (chunk[at + 3] === FRAME.data) {
      this.#beginData(chunk, at, length)
      return at + FRAME_HEADER_BYTES
    }
    if (have < FRAME_HEADER_BYTES + length) return this.#hold(chunk, at)
    this.#handOn(chunk, at, length)
    return at + FRAME_HEADER_BYTES + length
  }

  #hold(chunk: Buffer, at: number): number {
    this.#heldBytes = chunk.copy(this.#held, 0, at)
    return chunk.length
  }

  /** First the header, then what it announces. */
  #fillHeld(chunk: Buffer, at: number): number {
    const hasHeader = this.#heldBytes >= FRAME_HEADER_BYTES
    const wanted = FRAME_HEADER_BYTES + (hasHeader ? this.#payloadBytes(this.#held, 0) : 0)
    const taken = chunk.copy(this.#held, this.#heldBytes, at, at + wanted - this.#heldBytes)
    this.#heldBytes += taken
    if (this.#heldBytes < FRAME_HEADER_BYTES) return at + taken
    const length = this.#payloadBytes(this.#held, 0)
    if (this.#held[3] === FRAME.data) {
      this.#heldBytes = 0
      this.#beginData(this.#held, 0, length)
    } else if (this.#heldBytes === FRAME_HEADER_BYTES + length) {
      this.#heldBytes = 0
      this.#handOn(this.#held, 0, length)
    }
    return at + taken
  }

  #handOn(bytes: Buffer, at: number, length: number): void {
    const start = at + FRAME_HEADER_BYTES
    this.#handler.onFrame(
      bytes[at + 3]!,
      bytes[at + 4]!,
      streamIdAt(bytes, at + 5),
      bytes,
      start,
      start + length,
    )
  }

  /** Of the frame whose header is at `at`. */
  #payloadBytes(bytes: Buffer, at: number): number {
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    if (length > this.#frameBytesMax)
      throw new Http2ProtocolError('FRAME_SIZE_ERROR', `a frame of ${length} bytes`)
    return length
  }

  #beginData(bytes: Buffer, at: number, length: number): void {
    const flags = bytes[at + 4]!
    this.#inData = true
    this.#endsStream = (flags & FLAG.endStream) !== 0
    this.#padLengthDue = (flags & FLAG.padded) !== 0
    this.#contentLeft = length
    this.#paddingLeft = 0
    if (this.#padLengthDue && length === 0) throw badPadding()
    this.#handler.onDataFrame(streamIdAt(bytes, at + 5), length)
    if (length === 0) this.#endData()
  }

  #readData(chunk: Buffer, start: number): number {
    let at = start
    if (this.#padLengthDue) {
      const padding = chunk[at++]!
      this.#padLengthDue = false
      this.#contentLeft -= 1 + padding
      this.#paddingLeft = padding
      if (this.#contentLeft < 0) throw badPadding()
    }
    const content = Math.min(this.#contentLeft, chunk.length - at)
    if (content > 0) {
      this.#contentLeft -= content
      this.#handler.onDataPiece(
        at === 0 && content === chunk.length ? chunk : chunk.subarray(at, at + content),
      )
      at += content
    }
    const padding = Math.min(this.#paddingLeft, chunk.length - at)
    this.#paddingLeft -= padding
    if (this.#contentLeft === 0 && this.#paddingLeft === 0) this.#endData()
    return at + padding
  }

  #endData(): void {
    this.#inData = false
    this.#handler.onDataEnd(this.#endsStream)
  }
}

/** Without the reserved bit. */
export function streamIdAt(bytes: Buffer, at: number): number {
  return (
    ((bytes[at]! & 0x7f) << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  )
}

function badPadding(): Http2ProtocolError {
  return new Http2ProtocolError('PROTOCOL_ERROR', 'more padding than DATA')
}
