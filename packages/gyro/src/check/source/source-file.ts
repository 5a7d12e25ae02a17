/** The text of one input, and lines and columns in it. */
import { firstIndexWhere } from '@gyropilot/foundation'

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
    const line = firstIndexWhere(starts.length, (at) => starts[at]! > offset)
    let column = 1
    for (const _ of this.text.slice(starts[line - 1], offset)) column++
    return { line, column }
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
