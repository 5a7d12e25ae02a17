import { FileError } from './file-error.ts'

/** All that comes, when it is not more than `mostBytes`. */
export async function gathered(
  chunks: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<Uint8Array> {
  const taken = new Gathering(mostBytes)
  for await (const chunk of chunks) taken.add(chunk)
  return taken.bytes()
}

/** Pieces that are wanted as one. */
export class Gathering {
  readonly #chunks: Uint8Array[] = []
  readonly #mostBytes: number
  #length = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  add(chunk: Uint8Array | string): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    this.#length += bytes.length
    if (this.#length > this.#mostBytes) throw new FileError('No space left on device')
    this.#chunks.push(bytes)
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks)
  }
}

const MOST_BUFFERED_CHARS = 32_768

/** Lines that go out together: a message each would cost more than the lines. */
export class BufferedLines {
  readonly #out: (text: string) => Promise<void>
  #text = ''

  constructor(out: (text: string) => Promise<void>) {
    this.#out = out
  }

  async add(line: string): Promise<void> {
    this.#text += line
    if (this.#text.length >= MOST_BUFFERED_CHARS) await this.end()
  }

  async end(): Promise<void> {
    const text = this.#text
    this.#text = ''
    if (text !== '') await this.#out(text)
  }
}
