/** The part of the ustar format that files, folders and links need, with long names as GNU and POSIX write them. Packs and unpacks piece by piece. */

import { FileError } from '../files/file-error.ts'

const BLOCK = 512
/** Of a header that stands for a name, whatever else it says. */
const MOST_HEADER_BYTES = 65_536
/** Longer ones are no paths. */
const MOST_NAME_BYTES = 4_096
const [CHECKSUM_AT, CHECKSUM_LENGTH] = [148, 8]

export interface TarHeader {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'symlink' | 'link'
  /** What a link leads to. */
  readonly target: string
  /** Permissions with the special bits. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly timeMs: number
}

interface TarMember extends TarHeader {
  readonly size: number
  /** Empty of what nobody wanted. */
  readonly bytes: Uint8Array
}

const TYPES: Readonly<Record<TarHeader['kind'], string>> = {
  file: '0',
  link: '1',
  symlink: '2',
  folder: '5',
}
const KINDS: ReadonlyMap<string, TarHeader['kind']> = new Map([
  ['\0', 'file'],
  ['0', 'file'],
  ['1', 'link'],
  ['2', 'symlink'],
  ['5', 'folder'],
  // As a file that lies in one piece.
  ['7', 'file'],
])
const NOTHING = new Uint8Array(0)

/** What stands at the end of every archive. */
export const TAR_END: Uint8Array = Buffer.alloc(2 * BLOCK)

/** One file or folder, with what stands before and behind it. */
export function packEntry(entry: TarHeader, bytes: Uint8Array): Uint8Array {
  const name = entry.kind === 'folder' ? `${entry.name.replace(/\/$/, '')}/` : entry.name
  const blocks: Buffer[] = []
  if (Buffer.byteLength(name) > 100) {
    // GNU's way of long names: an entry that holds the name of the next.
    const long = Buffer.from(`${name}\0`)
    blocks.push(block({ ...entry, name: '././@LongLink' }, long.length, 'L'), ...padded(long))
  }
  blocks.push(block({ ...entry, name }, bytes.length, TYPES[entry.kind]), ...padded(bytes))
  return Buffer.concat(blocks)
}

function block(entry: TarHeader, size: number, type: string): Buffer {
  const written = Buffer.alloc(BLOCK)
  Buffer.from(entry.name).copy(written, 0, 0, 100)
  writeNumber(written, 100, 8, entry.mode)
  writeNumber(written, 108, 8, entry.uid)
  writeNumber(written, 116, 8, entry.gid)
  writeNumber(written, 124, 12, size)
  writeNumber(written, 136, 12, Math.floor(entry.timeMs / 1000))
  written.write(type, 156)
  Buffer.from(entry.target).copy(written, 157, 0, 100)
  written.write('ustar\x0000', 257)
  written.write(`${checksumOf(written).toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT)
  return written
}

/** In octal; what has no room so, as users of some clusters, in bytes behind a mark. */
function writeNumber(written: Buffer, at: number, length: number, value: number): void {
  const digits = value.toString(8).padStart(length - 1, '0')
  if (digits.length < length) written.write(`${digits}\0`, at)
  else {
    written.writeUIntBE(value, at + length - 6, 6)
    written[at] = 0x80
  }
}

function readNumber(read: Buffer, at: number, length: number): number {
  if ((read[at]! & 0x80) !== 0) return read.readUIntBE(at + length - 6, 6)
  return Number.parseInt(text(read, at, length), 8) || 0
}

/** As if blanks stood where it stands itself. */
function checksumOf(read: Buffer): number {
  let sum = CHECKSUM_LENGTH * 0x20
  for (let at = 0; at < BLOCK; at++)
    if (at < CHECKSUM_AT || at >= CHECKSUM_AT + CHECKSUM_LENGTH) sum += read[at]!
  return sum
}

function padded(bytes: Uint8Array): Buffer[] {
  const missing = (BLOCK - (bytes.length % BLOCK)) % BLOCK
  return [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), Buffer.alloc(missing)]
}

/**
 * Files, folders and links in the order of the archive, each as soon as it is there. `wants` is asked before the bytes of a file
 * are gathered and may throw. Throws for bytes that are no tar archive. Devices and pipes are left out.
 */
export async function* unpackTar(
  archive: AsyncIterable<Uint8Array>,
  wants: (header: TarHeader, size: number) => boolean,
): AsyncGenerator<TarMember> {
  const reader = new BlockReader(archive)
  let long: { readonly name?: string | undefined; readonly target?: string | undefined } = {}
  for (;;) {
    const read = await reader.take(BLOCK)
    if (read === undefined || read[0] === 0) return
    if (readNumber(read, CHECKSUM_AT, CHECKSUM_LENGTH) !== checksumOf(read))
      throw new FileError('invalid tar magic')
    const size = readNumber(read, 124, 12)
    const type = String.fromCharCode(read[156]!)
    if ('LKxg'.includes(type)) {
      if (size > MOST_HEADER_BYTES) throw new FileError('header is too long')
      const content = (await reader.takePadded(size)).toString()
      if (type === 'L') long = { ...long, name: content.replace(/\0.*$/s, '') }
      else if (type === 'K') long = { ...long, target: content.replace(/\0.*$/s, '') }
      else if (type === 'x')
        long = {
          name: recordOf(content, 'path') ?? long.name,
          target: recordOf(content, 'linkpath') ?? long.target,
        }
      continue
    }
    const kind = KINDS.get(type)
    const header = headerOf(read, kind ?? 'file', long)
    long = {}
    if (kind === 'file' && wants(header, size))
      yield { ...header, size, bytes: await reader.takePadded(size) }
    else {
      await reader.skip(Math.ceil(size / BLOCK) * BLOCK)
      if (kind !== undefined) yield { ...header, size, bytes: NOTHING }
    }
  }
}

function headerOf(
  read: Buffer,
  kind: TarHeader['kind'],
  long: { readonly name?: string | undefined; readonly target?: string | undefined },
): TarHeader {
  const prefix = read.toString('latin1', 257, 263) === 'ustar\0' ? text(read, 345, 155) : ''
  const name = long.name ?? (prefix === '' ? '' : `${prefix}/`) + text(read, 0, 100)
  if (Buffer.byteLength(name) > MOST_NAME_BYTES) throw new FileError('File name too long')
  return {
    name,
    // Archives older than folders: a slash at the end tells.
    kind: kind === 'file' && name.endsWith('/') ? 'folder' : kind,
    target: long.target ?? text(read, 157, 100),
    mode: readNumber(read, 100, 8) & 0o7777,
    uid: readNumber(read, 108, 8),
    gid: readNumber(read, 116, 8),
    timeMs: readNumber(read, 136, 12) * 1000,
  }
}

/** Of a header of POSIX: `20 path=a/long/name`. */
function recordOf(content: string, key: string): string | undefined {
  return new RegExp(`(?:^|\\n)\\d+ ${key}=(.*)\\n`).exec(content)?.[1]
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

function text(read: Buffer, start: number, length: number): string {
  const end = read.indexOf(0, start)
  return read.toString('utf8', start, end === -1 || end > start + length ? start + length : end)
}
