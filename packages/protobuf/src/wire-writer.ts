/**
 * Writes the wire format of protocol buffers from its end to its beginning: the length of a message stands in front of it and
 * is known when it is written. So fields are written last first, and of each field the value before its tag.
 */
import { FIXED64, LENGTH_DELIMITED, VARINT } from './wire.ts'

const FIRST_CAPACITY_BYTES = 1_024
const BITS_64 = (1n << 64n) - 1n

export class WireWriter {
  #buffer = Buffer.allocUnsafe(FIRST_CAPACITY_BYTES)
  /** What is written stands from here on. */
  #at = FIRST_CAPACITY_BYTES

  /** Of what is written so far, in bytes. */
  get length(): number {
    return this.#buffer.length - this.#at
  }

  /** A copy. */
  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(this.#at))
  }

  tag(fieldNumber: number, wireType: number): void {
    this.varint((fieldNumber << 3) | wireType)
  }

  /** Integers of up to 64 bits; negative ones take ten bytes, as Go writes them. */
  varint(value: number | bigint): void {
    if (typeof value === 'bigint' || value < 0 || value > Number.MAX_SAFE_INTEGER)
      return this.#bigVarint(BigInt(value) & BITS_64)
    let bytes = 1
    for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes++
    let at = this.#reserve(bytes)
    let rest = value
    for (; bytes > 1; bytes--) {
      this.#buffer[at++] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    this.#buffer[at] = rest
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = []
    let rest = value
    for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 0x80)
    bytes.push(Number(rest))
    this.raw(Uint8Array.from(bytes))
  }

  double(value: number): void {
    const at = this.#reserve(8)
    this.#buffer.writeDoubleLE(value, at)
  }

  /** Without a length. */
  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length)
    this.#buffer.set(bytes, at)
  }

  bytes(bytes: Uint8Array): void {
    this.raw(bytes)
    this.varint(bytes.length)
  }

  string(text: string): void {
    const length = Buffer.byteLength(text)
    const at = this.#reserve(length)
    this.#buffer.write(text, at, length, 'utf8')
    this.varint(length)
  }

  /** What `write` writes, as a message. */
  message(write: () => void): void {
    const before = this.length
    write()
    this.varint(this.length - before)
  }

  varintField(fieldNumber: number, value: number | bigint): void {
    this.varint(value)
    this.tag(fieldNumber, VARINT)
  }

  doubleField(fieldNumber: number, value: number): void {
    this.double(value)
    this.tag(fieldNumber, FIXED64)
  }

  stringField(fieldNumber: number, text: string): void {
    this.string(text)
    this.tag(fieldNumber, LENGTH_DELIMITED)
  }

  messageField(fieldNumber: number, write: () => void): void {
    this.message(write)
    this.tag(fieldNumber, LENGTH_DELIMITED)
  }

  /** Makes room in front; answers where it begins. */
  #reserve(bytes: number): number {
    if (bytes > this.#at) {
      const written = this.length
      const capacity = Math.max(this.#buffer.length * 2, written + bytes)
      const buffer = Buffer.allocUnsafe(capacity)
      this.#buffer.copy(buffer, capacity - written, this.#at)
      this.#buffer = buffer
      this.#at = capacity - written
    }
    this.#at -= bytes
    return this.#at
  }
}
