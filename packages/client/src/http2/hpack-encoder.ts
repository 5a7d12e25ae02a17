/** Headers of requests to header blocks: RFC 7541. What each request repeats becomes one byte. */
import {
  DEFAULT_TABLE_BYTES,
  DynamicTable,
  ENTRY_OVERHEAD_BYTES,
  STATIC_COUNT,
  STATIC_NUMBER_OF,
  STATIC_PAIR_NUMBERS,
} from './hpack-tables.ts'

const SCRATCH_BYTES = 4096
/** A prefix, and an integer of five bytes; for the name, for the value, and for a change of the table before. */
const INTEGERS_BYTES = 24
/** Another in each request: an entry for it would push out those that come again. */
const NOT_ADDED: ReadonlySet<string> = new Set([':path', 'content-length'])

/**
 * The state of one direction of a connection. Texts are sent as they are: what a Huffman code would save is a quarter of a path,
 * and the rest is in the table.
 */
export class HpackEncoder {
  readonly #numbers = new Map<string, Map<string, number>>()
  readonly #table = new DynamicTable((name, value) => this.#numbers.get(name)!.delete(value))
  #block = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  #at = 0
  /** The smallest size that was asked for since the last block, where the peer must hear of it. */
  #resizedTo: number | undefined

  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  set tableBytesMax(bytes: number) {
    const wanted = Math.min(bytes, DEFAULT_TABLE_BYTES)
    if (wanted === this.#table.maxBytes) return
    this.#resizedTo = Math.min(wanted, this.#resizedTo ?? wanted)
    this.#table.maxBytes = wanted
  }

  begin(): void {
    this.#at = 0
    if (this.#resizedTo === undefined) return
    this.#integer(0x20, 0x1f, this.#resizedTo)
    if (this.#resizedTo !== this.#table.maxBytes) this.#integer(0x20, 0x1f, this.#table.maxBytes)
    this.#resizedTo = undefined
  }

  /** The name in lower case; of both only characters up to U+00FF. */
  add(name: string, value: string): void {
    const serial = this.#numbers.get(name)?.get(value)
    if (serial !== undefined)
      return this.#integer(0x80, 0x7f, STATIC_COUNT + 1 + this.#table.indexOf(serial))
    const number = STATIC_NUMBER_OF.get(name) ?? 0
    const pair = number === 0 ? undefined : STATIC_PAIR_NUMBERS.get(name)?.get(value)
    if (pair !== undefined) return this.#integer(0x80, 0x7f, pair)
    this.#reserve(name.length + value.length + INTEGERS_BYTES)
    const isAdded = !NOT_ADDED.has(name) && this.#fits(name, value)
    if (isAdded) this.#integer(0x40, 0x3f, number)
    else this.#integer(0, 0x0f, number)
    if (number === 0) this.#text(name)
    this.#text(value)
    if (!isAdded) return
    let values = this.#numbers.get(name)
    if (values === undefined) this.#numbers.set(name, (values = new Map<string, number>()))
    values.set(value, this.#table.add(name, value)!)
  }

  /** The block; valid until the next `begin`. */
  end(): Buffer {
    return this.#block.subarray(0, this.#at)
  }

  /** Tokens of a dozen controllers in turn would push out each other and all else. */
  #fits(name: string, value: string): boolean {
    return (name.length + value.length + ENTRY_OVERHEAD_BYTES) * 8 <= this.#table.maxBytes
  }

  #text(text: string): void {
    this.#integer(0, 0x7f, text.length)
    this.#at += this.#block.write(text, this.#at, 'latin1')
  }

  #integer(pattern: number, prefix: number, value: number): void {
    this.#reserve(INTEGERS_BYTES)
    if (value < prefix) {
      this.#block[this.#at++] = pattern | value
      return
    }
    this.#block[this.#at++] = pattern | prefix
    let rest = value - prefix
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#block[this.#at++] = (rest % 128) | 0x80
    this.#block[this.#at++] = rest
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#block.length) return
    const larger = Buffer.allocUnsafeSlow((this.#at + bytes) * 2)
    this.#block.copy(larger, 0, 0, this.#at)
    this.#block = larger
  }
}
