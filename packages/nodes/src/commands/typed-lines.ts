/** What is typed into the terminal of a shell: shown while it is typed, as a terminal's other end must, and handed over line by line. */
import { FileError } from '../files/file-error.ts'
import { Input } from '../shell/input.ts'
import { Interrupted } from '../shell/process.ts'

/** What is longer is no line. */
const MOST_LINE_CHARS = 1_048_576
const CTRL_C = 3
const CTRL_D = 4
const BACKSPACES = new Set([8, 127])

export class TypedLines {
  readonly #typed: AsyncIterator<Uint8Array>
  readonly #show: (text: string) => Promise<void>
  #chars: Iterator<string> = [].values()

  constructor(typed: AsyncIterable<Uint8Array>, show: (text: string) => Promise<void>) {
    this.#typed = typed[Symbol.asyncIterator]()
    this.#show = show
  }

  /** With its break; undefined: Ctrl-D instead of a line, or nobody types any more. Throws Interrupted for Ctrl-C. */
  async next(): Promise<string | undefined> {
    let line = ''
    for (let char = await this.#char(); char !== undefined; char = await this.#char()) {
      const code = char.codePointAt(0)!
      if (code === CTRL_D && line === '') return undefined
      if (code === CTRL_C) throw new Interrupted('Ctrl-C')
      if (BACKSPACES.has(code)) {
        if (line !== '') await this.#show('\b \b')
        line = line.slice(0, -1)
      } else if (char === '\n' || char === '\r') {
        await this.#show('\r\n')
        return `${line}\n`
      } else {
        if (line.length >= MOST_LINE_CHARS) throw new FileError('line is too long')
        line += char
        await this.#show(char)
      }
    }
    return line === '' ? undefined : line
  }

  async #char(): Promise<string | undefined> {
    for (;;) {
      const char = this.#chars.next()
      if (char.done !== true) return char.value
      const chunk = await this.#typed.next()
      if (chunk.done === true) return undefined
      this.#chars = Buffer.from(chunk.value).toString()[Symbol.iterator]()
    }
  }
}

/** The terminal, as a command of its shell reads from it. */
export class TypedInput extends Input {
  /** For a shell within the shell, which shows nothing twice. */
  readonly lines: TypedLines

  constructor(lines: TypedLines) {
    super(
      (async function* () {
        for (let line = await lines.next(); line !== undefined; line = await lines.next())
          yield Buffer.from(line)
      })(),
    )
    this.lines = lines
  }
}
