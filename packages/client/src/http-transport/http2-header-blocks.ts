import { FLAG, FRAME, Http2ProtocolError, LARGEST_WINDOW_BYTES } from '../http2/protocol.ts'
import { violation } from './http2-failures.ts'

/** Of one header block: those of a bad peer may be empty. */
const CONTINUATIONS_MAX = 1024

interface OpenBlock {
  readonly streamId: number
  readonly endsStream: boolean
  readonly pieces: Buffer[]
  bytes: number
}

/** Told of a block that is whole, in `bytes[start, end)`, for the time of the call. */
type OnBlock = (
  streamId: number,
  endsStream: boolean,
  bytes: Buffer,
  start: number,
  end: number,
) => void

/** Header blocks of HEADERS and the CONTINUATION that may follow: RFC 9113, sections 6.2 and 6.10. */
export class HeaderBlocks {
  readonly #bytesMax: number
  readonly #onBlock: OnBlock
  /** Goes on in CONTINUATION. */
  #open: OpenBlock | undefined

  constructor(bytesMax: number, onBlock: OnBlock) {
    this.#bytesMax = bytesMax
    this.#onBlock = onBlock
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Throws when a block is open and this frame does not go on with it. */
  expect(type: number, streamId: number): void {
    const open = this.#open
    if (open !== undefined && (type !== FRAME.continuation || streamId !== open.streamId))
      throw violation('a header block is broken off')
  }

  begin(flags: number, streamId: number, bytes: Buffer, from: number, to: number): void {
    let start = from
    let end = to
    if (flags & FLAG.padded) end -= start < end ? bytes[start++]! : LARGEST_WINDOW_BYTES
    if (flags & FLAG.priority) start += 5
    if (start > end) throw violation('more padding than HEADERS')
    const endsStream = (flags & FLAG.endStream) !== 0
    if (flags & FLAG.endHeaders) return this.#onBlock(streamId, endsStream, bytes, start, end)
    // The reader uses its bytes again.
    const piece = Buffer.from(bytes.subarray(start, end))
    this.#open = { streamId, endsStream, pieces: [piece], bytes: piece.length }
  }

  goOn(flags: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#open
    if (block === undefined) throw violation('CONTINUATION of nothing')
    block.pieces.push(Buffer.from(bytes.subarray(start, end)))
    block.bytes += end - start
    if (block.bytes > this.#bytesMax || block.pieces.length > CONTINUATIONS_MAX)
      throw new Http2ProtocolError('ENHANCE_YOUR_CALM', 'a header block without end')
    if (!(flags & FLAG.endHeaders)) return
    this.#open = undefined
    const whole = Buffer.concat(block.pieces, block.bytes)
    this.#onBlock(block.streamId, block.endsStream, whole, 0, whole.length)
  }
}
