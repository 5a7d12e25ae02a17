/** Header blocks to names and values: RFC 7541. */
import { decodeHuffman } from './huffman.ts'
import {
  DEFAULT_TABLE_BYTES,
  DynamicTable,
  ENTRY_OVERHEAD_BYTES,
  STATIC_COUNT,
  STATIC_NAMES,
  STATIC_VALUES,
} from './hpack-tables.ts'
import { Http2ProtocolError } from './protocol.ts'

const LARGEST_INTEGER = 2 ** 28
const SCRATCH_BYTES = 4096

/** The state of one direction of a connection: every block must be read, in order. */
export class HpackDecoder {
  readonly #table = new DynamicTable()
  readonly #listBytesMax: number
  #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  #bytes: Buffer = this.#scratch
  #at = 0
  #end = 0

  /** A block whose names and values are longer, 32 bytes for each pair added, is refused. */
  constructor(listBytesMax: number) {
    this.#listBytesMax = listBytesMax
  }

  /** Reads the block in `bytes[start, end)`. Texts are latin1. Throws Http2ProtocolError; nothing can be read after that. */
  decode(
    bytes: Buffer,
    start: number,
    end: number,
    onField: (name: string, value: string) => void,
  ): void {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
    let listBytes = 0
    let mayResize = true
    while (this.#at < end) {
      const first = bytes[this.#at]!
      let name: string
      let value: string
      if (first & 0x80) {
        const number = this.#integer(0x7f)
        name = this.#nameOf(number)
        value = this.#valueOf(number)
      } else if ((first & 0xe0) === 0x20) {
        if (!mayResize) throw broken('the size of its table changes inside a block')
        this.#resize(this.#integer(0x1f))
        continue
      } else {
        const isAdded = (first & 0xc0) === 0x40
        const number = this.#integer(isAdded ? 0x3f : 0x0f)
        name = number === 0 ? this.#text() : this.#nameOf(number)
        value = this.#text()
        if (isAdded) this.#table.add(name, value)
      }
      mayResize = false
      listBytes += name.length + value.length + ENTRY_OVERHEAD_BYTES
      if (listBytes > this.#listBytesMax)
        throw new Http2ProtocolError(
          'ENHANCE_YOUR_CALM',
          `the headers of an answer have more than ${this.#listBytesMax} bytes`,
        )
      onField(name, value)
    }
  }

  #nameOf(number: number): string {
    if (number <= STATIC_COUNT) return STATIC_NAMES[this.#known(number) - 1]!
    return this.#table.nameAt(this.#known(number) - STATIC_COUNT - 1)
  }

  #valueOf(number: number): string {
    if (number <= STATIC_COUNT) return STATIC_VALUES[number - 1]!
    return this.#table.valueAt(number - STATIC_COUNT - 1)
  }

  #known(number: number): number {
    if (number === 0 || number > STATIC_COUNT + this.#table.size)
      throw broken(`there is no entry ${number}`)
    return number
  }

  #resize(bytes: number): void {
    if (bytes > DEFAULT_TABLE_BYTES) throw broken(`a table of ${bytes} bytes was not allowed`)
    this.#table.maxBytes = bytes
  }

  /** `prefix`: the bits of the first byte that belong to it. */
  #integer(prefix: number): number {
    let value = this.#byte() & prefix
    if (value < prefix) return value
    for (let factor = 1; ; factor *= 128) {
      const next = this.#byte()
      value += (next & 0x7f) * factor
      if (value > LARGEST_INTEGER || factor > LARGEST_INTEGER) throw broken('a number is too large')
      if (next < 0x80) return value
    }
  }

  #text(): string {
    if (this.#at >= this.#end) throw broken('a block is cut off')
    const isHuffman = this.#bytes[this.#at]! >= 0x80
    const length = this.#integer(0x7f)
    const start = this.#at
    const end = start + length
    if (end > this.#end) throw broken('a block is cut off')
    this.#at = end
    if (!isHuffman) return this.#bytes.toString('latin1', start, end)
    // The shortest codes have five bits.
    if (length * 2 > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(length * 2)
    const written = decodeHuffman(this.#bytes, start, end, this.#scratch)
    return this.#scratch.toString('latin1', 0, written)
  }

  #byte(): number {
    if (this.#at >= this.#end) throw broken('a block is cut off')
    return this.#bytes[this.#at++]!
  }
}

function broken(text: string): Http2ProtocolError {
  return new Http2ProtocolError('COMPRESSION_ERROR', `hpack: ${text}`)
}
