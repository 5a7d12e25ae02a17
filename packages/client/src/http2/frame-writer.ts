/** Frames to bytes, gathered until the socket takes them: what one turn of the event loop sends goes out in one write. */
import { FLAG, FRAME, FRAME_HEADER_BYTES } from './protocol.ts'

const SLAB_BYTES = 32_768
/** Longer pieces are not copied. */
const LONGEST_COPY_BYTES = 8192

interface FrameSink {
  write(bytes: Buffer, written?: () => void): unknown
  cork(): void
  uncork(): void
}

export class FrameWriter {
  readonly #sink: FrameSink
  readonly #onWritten: () => void
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  /** Bytes of the slab before it are with the socket. */
  #start = 0
  #at = 0
  #pieces: Buffer[] = []
  #scheduled = false
  /** Writes that the socket has not ended. */
  #writing = 0
  #closed = false

  /** `onWritten`: everything before it is with the operating system. */
  constructor(sink: FrameSink, onWritten: () => void) {
    this.#sink = sink
    this.#onWritten = (): void => {
      this.#writing--
      onWritten()
      if (this.#writing > 0) return
      if (this.#start === this.#at && this.#pieces.length === 0) this.#start = this.#at = 0
      else this.flush()
    }
  }

  raw(bytes: Buffer | string): void {
    this.#append(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, 0, bytes.length)
  }

  /** HEADERS, with CONTINUATION where the block is longer than a frame. */
  headers(streamId: number, encoded: Buffer, endsStream: boolean, frameBytesMax: number): void {
    // The encoder uses its bytes again.
    const block = encoded.length > LONGEST_COPY_BYTES ? Buffer.from(encoded) : encoded
    let at = Math.min(block.length, frameBytesMax)
    const flags = (endsStream ? FLAG.endStream : 0) | (at === block.length ? FLAG.endHeaders : 0)
    this.#frame(FRAME.headers, flags, streamId, at)
    this.#append(block, 0, at)
    while (at < block.length) {
      const end = Math.min(block.length, at + frameBytesMax)
      this.#frame(
        FRAME.continuation,
        end === block.length ? FLAG.endHeaders : 0,
        streamId,
        end - at,
      )
      this.#append(block, at, end)
      at = end
    }
  }

  /** `bytes[start, end)`; they must stay as they are. */
  data(streamId: number, bytes: Buffer, start: number, end: number, endsStream: boolean): void {
    this.#frame(FRAME.data, endsStream ? FLAG.endStream : 0, streamId, end - start)
    this.#append(bytes, start, end)
  }

  rstStream(streamId: number, code: number): void {
    this.#frame(FRAME.rstStream, 0, streamId, 4)
    this.#uint32(code)
  }

  settings(settings: readonly (readonly [number, number])[]): void {
    this.#frame(FRAME.settings, 0, 0, settings.length * 6)
    for (const [name, value] of settings) {
      this.#reserve(6)
      this.#at = this.#slab.writeUInt16BE(name, this.#at)
      this.#uint32(value)
    }
  }

  settingsAck(): void {
    this.#frame(FRAME.settings, FLAG.ack, 0, 0)
  }

  /** Eight bytes. */
  ping(bytes: Buffer, isAck: boolean): void {
    this.#frame(FRAME.ping, isAck ? FLAG.ack : 0, 0, 8)
    this.#append(bytes, 0, 8)
  }

  goAway(lastStreamId: number, code: number): void {
    this.#frame(FRAME.goAway, 0, 0, 8)
    this.#uint32(lastStreamId)
    this.#uint32(code)
  }

  windowUpdate(streamId: number, bytes: number): void {
    this.#frame(FRAME.windowUpdate, 0, streamId, 4)
    this.#uint32(bytes)
  }

  /** Writes what is there, now. */
  flush(): void {
    if (this.#closed) return
    if (this.#at > this.#start) {
      this.#pieces.push(this.#slab.subarray(this.#start, this.#at))
      this.#start = this.#at
    }
    const pieces = this.#pieces
    const last = pieces.length - 1
    if (last === -1) return
    this.#pieces = []
    this.#writing++
    if (last === 0) return void this.#sink.write(pieces[0]!, this.#onWritten)
    this.#sink.cork()
    for (let i = 0; i < last; i++) this.#sink.write(pieces[i]!)
    this.#sink.write(pieces[last]!, this.#onWritten)
    this.#sink.uncork()
  }

  close(): void {
    this.#closed = true
    this.#pieces = []
  }

  #frame(type: number, flags: number, streamId: number, length: number): void {
    this.#reserve(FRAME_HEADER_BYTES)
    const slab = this.#slab
    const at = this.#at
    slab[at] = length >> 16
    slab[at + 1] = length >> 8
    slab[at + 2] = length
    slab[at + 3] = type
    slab[at + 4] = flags
    this.#at = slab.writeUInt32BE(streamId, at + 5)
    this.#schedule()
  }

  #uint32(value: number): void {
    this.#reserve(4)
    this.#at = this.#slab.writeUInt32BE(value, this.#at)
  }

  #append(bytes: Buffer, start: number, end: number): void {
    const length = end - start
    if (length > LONGEST_COPY_BYTES) {
      if (this.#at > this.#start) this.#pieces.push(this.#slab.subarray(this.#start, this.#at))
      this.#start = this.#at
      this.#pieces.push(bytes.subarray(start, end))
      return
    }
    this.#reserve(length)
    this.#at += bytes.copy(this.#slab, this.#at, start, end)
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#slab.length) return
    if (this.#at > this.#start) this.#pieces.push(this.#slab.subarray(this.#start, this.#at))
    this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
    this.#start = this.#at = 0
  }

  /** After all that is ready to run has run; and never beside a write, whose end takes along what came meanwhile. */
  #schedule(): void {
    if (this.#scheduled || this.#closed) return
    this.#scheduled = true
    process.nextTick(() => {
      this.#scheduled = false
      if (this.#writing === 0) this.flush()
    })
  }
}
