/**
 * The wire format of protocol buffers: tags, varints, lengths. Errors say what Go's generated decoders say.
 * A reader never reads past its end and never recurses: any bytes are safe to read.
 */

/** Bytes that are no message. The message is Go's. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ProtobufError'
  }
}

export const VARINT = 0
export const FIXED64 = 1
export const LENGTH_DELIMITED = 2
const GROUP_START = 3
const GROUP_END = 4
const FIXED32 = 5

/** Bytes of the longest varint. */
const LONGEST_VARINT = 10
const TWO_TO_32 = 2 ** 32

export class WireReader {
  /** Of the tag read last. */
  fieldNumber = 0
  wireType = 0
  readonly #bytes: Uint8Array
  readonly #end: number
  #at: number
  // The two halves of the varint read last: JavaScript has no cheap 64-bit integer.
  #low = 0
  #high = 0

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  get atEnd(): boolean {
    return this.#at >= this.#end
  }

  /** `message` is the Go name of the message that is being read. */
  readTag(message: string): void {
    this.readUncheckedTag()
    if (this.wireType === GROUP_END)
      throw new ProtobufError(`proto: ${message}: wiretype end group for non-group`)
    if (this.fieldNumber <= 0) {
      throw new ProtobufError(
        `proto: ${message}: illegal tag ${this.fieldNumber} (wire type ${this.#high * TWO_TO_32 + this.#low})`,
      )
    }
  }

  /** Of the entry of a map, where no tag is illegal. */
  readUncheckedTag(): void {
    this.#readVarint()
    this.wireType = this.#low & 7
    this.fieldNumber = (this.#low >>> 3) | (this.#high << 29)
  }

  int32(): number {
    this.#readVarint()
    return this.#low | 0
  }

  /** A bigint when no number holds it. */
  int64(): number | bigint {
    this.#readVarint()
    const value = (this.#high | 0) * TWO_TO_32 + this.#low
    if (Number.isSafeInteger(value)) return value
    return (BigInt(this.#high | 0) << 32n) + BigInt(this.#low)
  }

  bool(): boolean {
    this.#readVarint()
    return this.#low !== 0 || this.#high !== 0
  }

  double(): number {
    const start = this.#take(8)
    const { buffer, byteOffset } = this.#bytes
    return new DataView(buffer, byteOffset + start, 8).getFloat64(0, true)
  }

  bytes(): Uint8Array {
    const length = this.#readLength()
    const start = this.#take(length)
    return this.#bytes.subarray(start, start + length)
  }

  /** Bytes that are no UTF-8 become U+FFFD, as in JSON bodies. */
  string(): string {
    const { buffer, byteOffset, length } = this.bytes()
    return Buffer.from(buffer, byteOffset, length).toString('utf8')
  }

  /** A reader of the message, or packed numbers, that stands here. */
  message(): WireReader {
    const length = this.#readLength()
    const start = this.#take(length)
    return new WireReader(this.#bytes, start, start + length)
  }

  /** Passes the value of the tag read last; groups with everything in them. */
  skip(): void {
    let groups = 0
    let { wireType } = this
    for (;;) {
      if (wireType === VARINT) this.#readVarint()
      else if (wireType === FIXED64) this.#take(8)
      else if (wireType === LENGTH_DELIMITED) this.#take(this.#readLength())
      else if (wireType === GROUP_START) groups++
      else if (wireType === FIXED32) this.#take(4)
      else if (wireType !== GROUP_END)
        throw new ProtobufError(`proto: illegal wireType ${wireType}`)
      else if (--groups < 0) throw new ProtobufError('proto: unexpected end of group')
      if (groups === 0) return
      this.#readVarint()
      wireType = this.#low & 7
    }
  }

  #take(length: number): number {
    const start = this.#at
    if (length > this.#end - start) throw new ProtobufError('unexpected EOF')
    this.#at = start + length
    return start
  }

  #readLength(): number {
    this.#readVarint()
    // A place beyond what 63 bits hold counts as a negative one.
    const passesEnd = this.#high === 2 ** 31 - 1 && this.#low + this.#at >= TWO_TO_32
    if (this.#high >= 2 ** 31 || passesEnd)
      throw new ProtobufError('proto: negative length found during unmarshaling')
    return this.#high * TWO_TO_32 + this.#low
  }

  #readVarint(): void {
    let low = 0
    let high = 0
    for (let index = 0; index < LONGEST_VARINT; index++) {
      if (this.#at >= this.#end) throw new ProtobufError('unexpected EOF')
      const byte = this.#bytes[this.#at++]!
      const bits = byte & 0x7f
      // Byte 4 holds bits 28 to 34: four of them belong to the lower half.
      if (index < 4) low |= bits << (7 * index)
      else if (index === 4) {
        low |= bits << 28
        high = bits >>> 4
      } else high |= bits << (7 * index - 32)
      if (byte < 0x80) {
        this.#low = low >>> 0
        this.#high = high >>> 0
        return
      }
    }
    throw new ProtobufError('proto: integer overflow')
  }
}
