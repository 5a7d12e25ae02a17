/**
 * gzip around an archive. Done at once and not beside everything else: in simulations time stands while a command works. For that it
 * goes in pieces where it can; to be unpacked, an archive is held as a whole.
 */
import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { FileError } from '../files/file-error.ts'
import { gathered } from '../files/gathered.ts'

/** As much as pipes hold. */
const MOST_COMPRESSED_BYTES = 32 * 2 ** 20
/** Twice what all files of a pod may be. */
const MOST_UNPACKED_BYTES = 128 * 2 ** 20
const PIECE_BYTES = 2 ** 18
const [FIRST_BYTE, SECOND_BYTE] = [0x1f, 0x8b]

type Write = (bytes: Uint8Array) => Promise<void>

/** Each piece is a file of gzip: several in a row are one, as its readers have it. */
export class Compressor {
  readonly #write: Write
  #waiting: Uint8Array[] = []
  #length = 0

  constructor(write: Write) {
    this.#write = write
  }

  async add(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES)
      this.#waiting.push(piece)
      this.#length += piece.length
      if (this.#length >= PIECE_BYTES) await this.end()
    }
  }

  async end(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#length = 0
    if (bytes.length > 0) await this.#write(gzipSync(bytes))
  }
}

/** An archive as it is; what begins as gzip does is unpacked, asked for or not. */
export async function* uncompressed(
  chunks: AsyncIterable<Uint8Array>,
  isAsked: boolean,
): AsyncGenerator<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]()
  const rest = { [Symbol.asyncIterator]: () => source }
  let first: Uint8Array = new Uint8Array(0)
  while (first.length < 2) {
    const { done, value } = await source.next()
    if (done === true) break
    first = Buffer.concat([first, value])
  }
  const all = joined(first, rest)
  if (first[0] === FIRST_BYTE && first[1] === SECOND_BYTE)
    yield unzipped(await gathered(all, MOST_COMPRESSED_BYTES))
  else if (isAsked) throw new FileError('invalid gzip magic')
  else yield* all
}

async function* joined(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first
  yield* rest
}

function unzipped(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_UNPACKED_BYTES })
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new FileError('No space left on device')
    throw new FileError(
      errno === constants.Z_BUF_ERROR ? 'unexpected end of archive' : 'corrupted data',
    )
  }
}
