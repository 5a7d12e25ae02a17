/** The part of the ustar format that `kubectl cp` needs: files and folders. Packs and unpacks piece by piece. */

import { FileError } from '../files/file-error.ts'

const BLOCK = 512
/** Of a name or a header that stands for a name: longer ones are no names. */
const MOST_NAME_BYTES = 65_536

interface TarEntry {
  readonly name: string
  readonly folder: boolean
  readonly bytes: Uint8Array
}

/** What stands at the end of every archive. */
export const TAR_END: Uint8Array = Buffer.alloc(2 * BLOCK)

/** One file or folder, with what stands before and behind it. */
export function packEntry(entry: TarEntry, timeMs: number): Uint8Array {
  const name = entry.folder ? `${entry.name.replace(/\/$/, '')}/` : entry.name
  const blocks: Buffer[] = []
  if (Buffer.byteLength(name) > 100) {
    // GNU's way of long names: an entry that holds the name of the next.
    const bytes = Buffer.from(`${name}\0`)
    blocks.push(header('././@LongLink', bytes.length, 'L', timeMs), ...padded(bytes))
  }
  blocks.push(header(name, entry.bytes.length, entry.folder ? '5' : '0', timeMs))
  blocks.push(...padded(entry.bytes))
  return Buffer.concat(blocks)
}

function header(name: string, size: number, type: string, timeMs: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  Buffer.from(name).copy(block, 0, 0, 100)
  block.write(type === '5' ? '0000755\0' : '0000644\0', 100)
  block.write('0000000\0', 108)
  block.write('0000000\0', 116)
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  block.write(
    `${Math.floor(timeMs / 1000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
  )
  block.write('        ', 148)
  block.write(type, 156)
  block.write('ustar\x0000', 257)
  let sum = 0
  for (let at = 0; at < BLOCK; at++) sum += block[at]!
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function padded(bytes: Uint8Array): Buffer[] {
  const missing = (BLOCK - (bytes.length % BLOCK)) % BLOCK
  return [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), Buffer.alloc(missing)]
}

/**
 * Files and folders in the order of the archive, each as soon as it is there. `admit` is asked before the bytes of a file
 * are gathered and may throw. Throws for bytes that are no tar archive. Links and devices are left out.
 */
export async function* unpackTar(
  archive: AsyncIterable<Uint8Array>,
  admit: (name: string, size: number) => void,
): AsyncGenerator<TarEntry> {
  const reader = new BlockReader(archive)
  let longName: string | undefined
  for (;;) {
    const block = await reader.take(BLOCK)
    if (block === undefined || block[0] === 0) return
    const size = Number.parseInt(text(block, 124, 12), 8) || 0
    const type = String.fromCharCode(block[156]!)
    if (type === 'L' || type === 'x' || type === 'g') {
      if (size > MOST_NAME_BYTES) throw new FileError('header is too long')
      const content = (await reader.takePadded(size)).toString()
      if (type === 'L') longName = content.replace(/\0.*$/s, '')
      else if (type === 'x') longName = /(?:^|\n)\d+ path=(.*)\n/.exec(content)?.[1] ?? longName
      continue
    }
    const prefix = block.toString('latin1', 257, 262) === 'ustar' ? text(block, 345, 155) : ''
    const name = longName ?? (prefix === '' ? '' : `${prefix}/`) + text(block, 0, 100)
    longName = undefined
    if (type === '5') yield { name, folder: true, bytes: new Uint8Array(0) }
    else if (type === '0' || type === '\0') {
      admit(name, size)
      yield { name, folder: false, bytes: await reader.takePadded(size) }
    } else await reader.skip(Math.ceil(size / BLOCK) * BLOCK)
  }
}

class BlockReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Undefined: the archive ended before the first of them. */
  async take(size: number): Promise<Buffer | undefined> {
    const taken = Buffer.alloc(size)
    let length = 0
    while (length < size) {
      if (this.#rest.length === 0 && !(await this.#more())) {
        if (length === 0) return undefined
        throw new FileError('unexpected end of archive')
      }
      const piece = this.#rest.subarray(0, size - length)
      taken.set(piece, length)
      length += piece.length
      this.#rest = this.#rest.subarray(piece.length)
    }
    return taken
  }

  async takePadded(size: number): Promise<Buffer> {
    const taken = size === 0 ? Buffer.alloc(0) : await this.take(size)
    if (taken === undefined) throw new FileError('unexpected end of archive')
    await this.skip((BLOCK - (size % BLOCK)) % BLOCK)
    return taken
  }

  async skip(size: number): Promise<void> {
    let left = size
    while (left > 0) {
      if (this.#rest.length === 0 && !(await this.#more()))
        throw new FileError('unexpected end of archive')
      const piece = Math.min(left, this.#rest.length)
      this.#rest = this.#rest.subarray(piece)
      left -= piece
    }
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done === true) return false
    this.#rest = value
    return true
  }
}

function text(block: Buffer, start: number, length: number): string {
  const end = block.indexOf(0, start)
  return block
    .toString('utf8', start, end === -1 || end > start + length ? start + length : end)
    .trim()
}
