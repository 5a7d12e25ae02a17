/** What a program prints, as lines with the time of each: of a long log the newest, as one that is rotated keeps them. */
import type { ScriptedLine } from '../behavior/behavior.ts'

/** What is kept of a log: at least so much, and at most twice as much. */
export const MOST_PRINTED_CHARS = 1_048_576

export class PrintedLines {
  #lines: ScriptedLine[] = []
  #chars = 0
  #last: ScriptedLine | undefined

  get wholeLines(): readonly ScriptedLine[] {
    return this.#lines
  }

  /** Also the last one that has no line break yet. */
  get lines(): readonly ScriptedLine[] {
    return this.#last === undefined ? this.#lines : [...this.#lines, this.#last]
  }

  get unfinishedLine(): string {
    return this.#last?.text ?? ''
  }

  add(atMs: number, text: string): void {
    this.#chars += text.length
    if (this.#chars > 2 * MOST_PRINTED_CHARS) {
      this.#lines = this.#lines.slice(this.#lines.length / 2)
      this.#chars /= 2
    }
    const parts = ((this.#last?.text ?? '') + text).split('\n')
    const rest = parts.pop()!
    for (const part of parts) this.#lines.push({ atMs, text: part, stream: 'stdout' })
    this.#last = rest === '' ? undefined : { atMs, text: rest, stream: 'stdout' }
  }
}
