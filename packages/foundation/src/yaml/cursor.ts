/** A place in a text that goes forward, and what characters are to YAML 1.1. */

export interface Mark {
  /** In UTF-16 units. */
  readonly offset: number
  /** From zero. */
  readonly line: number
  readonly column: number
}

/** The code of what stands behind the text. */
export const END = -1

export class Cursor implements Mark {
  readonly text: string
  offset = 0
  line = 0
  column = 0

  constructor(text: string) {
    this.text = text
  }

  code(ahead = 0): number {
    const at = this.offset + ahead
    return at < this.text.length ? this.text.charCodeAt(at) : END
  }

  mark(): Mark {
    return { offset: this.offset, line: this.line, column: this.column }
  }

  /** Over characters of one line. */
  forward(count = 1): void {
    this.offset += count
    this.column += count
  }

  /** Over the break that stands here, if one does; answers it as it counts in a text. */
  lineBreak(): string {
    const code = this.code()
    if (!isBreak(code)) return ''
    this.offset += code === CR && this.code(1) === LF ? 2 : 1
    this.line++
    this.column = 0
    return code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR
      ? String.fromCharCode(code)
      : '\n'
  }

  /** Up to the end of the line; answers what stood there. */
  restOfLine(): string {
    const from = this.offset
    while (!isBreakOrEnd(this.code())) this.offset++
    this.column += this.offset - from
    return this.text.slice(from, this.offset)
  }

  /** `---` or `...` in front of a line. */
  isAtDocumentMark(): boolean {
    if (this.column !== 0) return false
    const code = this.code()
    return (
      (code === DASH || code === DOT) &&
      this.code(1) === code &&
      this.code(2) === code &&
      isSpaceOrEnd(this.code(3))
    )
  }
}

const LF = 0x0a
const CR = 0x0d
const LINE_SEPARATOR = 0x2028
const PARAGRAPH_SEPARATOR = 0x2029
const DASH = 0x2d
const DOT = 0x2e
export const SPACE = 0x20
export const TAB = 0x09

export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

export function isBreak(code: number): boolean {
  return (
    code === LF ||
    code === CR ||
    code === 0x85 ||
    code === LINE_SEPARATOR ||
    code === PARAGRAPH_SEPARATOR
  )
}

export function isBreakOrEnd(code: number): boolean {
  return code === END || isBreak(code)
}

export function isSpaceOrEnd(code: number): boolean {
  return code === SPACE || code === TAB || isBreakOrEnd(code)
}

/** What anchors and handles of tags are made of. */
export function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    code === DASH
  )
}
