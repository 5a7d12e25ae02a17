/** The part of the ustar format that `kubectl cp` needs: files and folders. */

const BLOCK = 512

export interface TarEntry {
  readonly name: string
  readonly folder: boolean
  readonly bytes: Uint8Array
}

export function packTar(entries: readonly TarEntry[], timeMs: number): Uint8Array {
  const blocks: Buffer[] = []
  for (const entry of entries) {
    const name = entry.folder ? `${entry.name.replace(/\/$/, '')}/` : entry.name
    if (Buffer.byteLength(name) > 100) {
      // GNU's way of long names: an entry that holds the name of the next.
      const bytes = Buffer.from(`${name}\0`)
      blocks.push(header('././@LongLink', bytes.length, 'L', timeMs), padded(bytes))
    }
    blocks.push(header(name, entry.bytes.length, entry.folder ? '5' : '0', timeMs))
    blocks.push(padded(entry.bytes))
  }
  blocks.push(Buffer.alloc(2 * BLOCK))
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
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function padded(bytes: Uint8Array): Buffer {
  const missing = (BLOCK - (bytes.length % BLOCK)) % BLOCK
  return Buffer.concat([bytes, Buffer.alloc(missing)])
}

/** Throws for bytes that are no tar archive. Other kinds of entries (links, devices) are left out. */
export function unpackTar(archive: Uint8Array): TarEntry[] {
  const bytes = Buffer.from(archive)
  const entries: TarEntry[] = []
  let longName: string | undefined
  for (let offset = 0; offset + BLOCK <= bytes.length;) {
    const block = bytes.subarray(offset, offset + BLOCK)
    if (block[0] === 0) break
    const size = Number.parseInt(text(block, 124, 12), 8) || 0
    const type = String.fromCharCode(block[156]!)
    const start = offset + BLOCK
    if (start + size > bytes.length) throw new Error('unexpected end of archive')
    const content = bytes.subarray(start, start + size)
    offset = start + Math.ceil(size / BLOCK) * BLOCK
    if (type === 'L') {
      longName = content.toString().replace(/\0.*$/s, '')
      continue
    }
    if (type === 'x' || type === 'g') {
      const path = /(?:^|\n)\d+ path=(.*)\n/.exec(content.toString())
      if (type === 'x' && path !== null) longName = path[1]
      continue
    }
    const prefix = block.toString('latin1', 257, 262) === 'ustar' ? text(block, 345, 155) : ''
    const name = longName ?? (prefix === '' ? '' : `${prefix}/`) + text(block, 0, 100)
    longName = undefined
    if (type === '5') entries.push({ name, folder: true, bytes: new Uint8Array(0) })
    else if (type === '0' || type === '\0') entries.push({ name, folder: false, bytes: content })
  }
  return entries
}

function text(block: Buffer, start: number, length: number): string {
  const end = block.indexOf(0, start)
  return block
    .toString('utf8', start, end === -1 || end > start + length ? start + length : end)
    .trim()
}
