/**
 * Header blocks of SPDY/3.1: pairs of length-prefixed strings, compressed with a dictionary that both ends know. Each
 * direction of a connection is one zlib stream, so blocks must be read and written in the order of their frames.
 */
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib'

const WORDS = `options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age
allow authorization cache-control connection content-base content-encoding content-language content-length content-location
content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range
if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer
retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status
200_OK version HTTP/1.1 url public set-cookie keep-alive origin`

const TAIL =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden' +
  '404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,public' +
  'privatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.'

/** Given by the protocol (SPDY/3, section 2.6.10.1). */
export const DICTIONARY = Buffer.concat([
  ...WORDS.split(/\s+/).map((word) => lengthPrefixed(word.replace('_', ' '))),
  Buffer.from(TAIL, 'latin1'),
])

/** A block that unpacks to more is no header block of a client that means well. */
const MOST_HEADER_BYTES = 65_536

export type SpdyHeaders = ReadonlyMap<string, string>

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

export class HeaderReader {
  readonly #inflate: Inflate = createInflate({ dictionary: DICTIONARY })
  #chunks: Buffer[] = []
  #size = 0

  constructor() {
    this.#inflate.on('data', (chunk: Buffer) => {
      this.#size += chunk.length
      if (this.#size <= MOST_HEADER_BYTES) this.#chunks.push(chunk)
    })
  }

  async read(block: Buffer): Promise<SpdyHeaders> {
    this.#chunks = []
    this.#size = 0
    await new Promise<void>((resolve, reject) => {
      this.#inflate.once('error', reject)
      this.#inflate.write(block, () => {
        this.#inflate.removeListener('error', reject)
        resolve()
      })
    })
    if (this.#size > MOST_HEADER_BYTES) throw new Error('SPDY header block is too large')
    return pairsOf(Buffer.concat(this.#chunks))
  }

  close(): void {
    this.#inflate.destroy()
  }
}

function pairsOf(bytes: Buffer): SpdyHeaders {
  const headers = new Map<string, string>()
  let offset = 0
  const number = (): number => {
    if (offset + 4 > bytes.length) throw new Error('SPDY header block ends early')
    offset += 4
    return bytes.readUInt32BE(offset - 4)
  }
  const text = (): string => {
    const length = number()
    if (offset + length > bytes.length) throw new Error('SPDY header block ends early')
    offset += length
    return bytes.toString('utf8', offset - length, offset)
  }
  for (let left = number(); left > 0; left--) {
    const name = text()
    headers.set(name.toLowerCase(), text())
  }
  return headers
}

export class HeaderWriter {
  readonly #deflate: Deflate = createDeflate({
    dictionary: DICTIONARY,
    flush: constants.Z_SYNC_FLUSH,
  })
  #chunks: Buffer[] = []

  constructor() {
    this.#deflate.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
  }

  async write(headers: SpdyHeaders): Promise<Buffer> {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(headers.size)
    const pairs = [...headers].flatMap(([name, value]) => [
      lengthPrefixed(name),
      lengthPrefixed(value),
    ])
    this.#chunks = []
    await new Promise<void>((resolve, reject) => {
      this.#deflate.once('error', reject)
      this.#deflate.write(Buffer.concat([count, ...pairs]), () => {
        this.#deflate.removeListener('error', reject)
        resolve()
      })
    })
    return Buffer.concat(this.#chunks)
  }

  close(): void {
    this.#deflate.destroy()
  }
}
