/** The text of one input, and lines and columns in it. */

export interface Position {
  /** From 1; 0: the file as a whole. */
  readonly line: number
  /** In characters, from 1; 0: the line as a whole. */
  readonly column: number
}

export class SourceFile {
  /** As it was given, or found below what was given; `stdin`. */
  readonly name: string
  readonly text: string
  #lineStarts: number[] | undefined

  /** `text` without a byte order mark. */
  constructor(name: string, text: string) {
    this.name = name
    this.text = text
  }

  positionOf(offset: number): Position {
    const starts = (this.#lineStarts ??= lineStarts(this.text))
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    let column = 1
    for (const _ of this.text.slice(starts[low], offset)) column++
    return { line: low + 1, column }
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
