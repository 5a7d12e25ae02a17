/** What processes read one after the other: what one of them leaves is there for the next. */

const LINE_BREAK = 10

interface InputLine {
  readonly text: string
  /** False: the input ended before a line break came. */
  readonly isWhole: boolean
}

export class Input implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>
  #left: Uint8Array | undefined

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next line without its break; fails with what `tooLong` answers when it has more than so many bytes. */
  async line(mostBytes: number, tooLong: () => Error): Promise<InputLine> {
    const pieces: Uint8Array[] = []
    let length = 0
    const text = (): string => Buffer.concat(pieces).toString()
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) {
      const end = chunk.indexOf(LINE_BREAK)
      const piece = end === -1 ? chunk : chunk.subarray(0, end)
      length += piece.length
      if (length > mostBytes) throw tooLong()
      pieces.push(piece)
      if (end === -1) continue
      if (end + 1 < chunk.length) this.#left = chunk.subarray(end + 1)
      return { text: text(), isWhole: true }
    }
    return { text: text(), isWhole: false }
  }

  /** Leaving it early leaves the rest to the next reader. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next())
      yield chunk
  }

  async #next(): Promise<Uint8Array | undefined> {
    const left = this.#left
    this.#left = undefined
    if (left !== undefined) return left
    const { done, value } = await this.#source.next()
    return done === true ? undefined : value
  }
}

/** An input of these bytes. */
export function inputOf(bytes: Uint8Array): Input {
  return new Input(
    (async function* () {
      if (bytes.length > 0) yield bytes
    })(),
  )
}
