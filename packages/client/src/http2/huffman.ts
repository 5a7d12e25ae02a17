/** The Huffman code of RFC 7541, appendix B: shorter codes first, codes of one length in the order of their symbols. */
import { Http2ProtocolError } from './protocol.ts'

const END_OF_STRING = 256
/** Bits of the codes of the 256 bytes, and of the end of a string. */
const CODE_BITS: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5,
  6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6,
  7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
  23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
  22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22,
  23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27,
  27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25,
  24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]

/**
 * Pages of 256 entries, by the next eight bits: `symbol << 4 | bits of this page`, or `-page` where the code goes on there. The
 * first page is the root.
 */
let pages: Int32Array | undefined

/** Reads `bytes[start, end)` and writes what they stand for to `into`; gives how many bytes. `into` has room for 8/5 of the input. */
export function decodeHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Uint8Array,
): number {
  pages ??= makePages()
  const table = pages
  let written = 0
  let page = 0
  let bits = 0
  let bitCount = 0
  /** Since the last symbol: padding is shorter than a byte. */
  let unspent = 0
  for (let at = start; at < end; at++) {
    bits = (bits << 8) | bytes[at]!
    bitCount += 8
    unspent += 8
    while (bitCount >= 8) {
      const entry = table[page + ((bits >>> (bitCount - 8)) & 0xff)]!
      if (entry < 0) {
        page = -entry
        bitCount -= 8
      } else {
        bitCount -= entry & 0xf
        written = emit(entry, into, written)
        page = 0
        unspent = bitCount
      }
    }
  }
  while (bitCount > 0) {
    const entry = table[page + ((bits << (8 - bitCount)) & 0xff)]!
    if (entry < 0 || (entry & 0xf) > bitCount) break
    bitCount -= entry & 0xf
    written = emit(entry, into, written)
    page = 0
    unspent = bitCount
  }
  const ones = (1 << bitCount) - 1
  if (unspent > 7 || (bits & ones) !== ones)
    throw new Http2ProtocolError('COMPRESSION_ERROR', 'hpack: a Huffman string ends badly')
  return written
}

function emit(entry: number, into: Uint8Array, at: number): number {
  const symbol = entry >> 4
  if (symbol === END_OF_STRING)
    throw new Http2ProtocolError('COMPRESSION_ERROR', 'hpack: a Huffman string has an end inside')
  into[at] = symbol
  return at + 1
}

function makePages(): Int32Array {
  const made: number[] = Array.from({ length: 256 }, () => 0)
  const symbols = CODE_BITS.map((bits, symbol) => ({ bits, symbol }))
  symbols.sort((a, b) => a.bits - b.bits || a.symbol - b.symbol)
  let code = 0
  let length = 0
  for (const { bits, symbol } of symbols) {
    code <<= bits - length
    length = bits
    let page = 0
    let left = bits
    for (; left > 8; left -= 8) {
      const slot = page + ((code >>> (left - 8)) & 0xff)
      if (made[slot] === 0) {
        made[slot] = -made.length
        for (let i = 0; i < 256; i++) made.push(0)
      }
      page = -made[slot]!
    }
    const first = page + ((code << (8 - left)) & 0xff)
    for (let i = 0; i < 1 << (8 - left); i++) made[first + i] = (symbol << 4) | left
    code++
  }
  return Int32Array.from(made)
}
