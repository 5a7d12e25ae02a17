import { END, SPACE, TAB, isBlank, isBreak, isBreakOrEnd } from './cursor.ts'
import type { Cursor, Mark } from './cursor.ts'
import { wrongCharacters } from './yaml-error.ts'

const GREATER = 0x3e
const PLUS = 0x2b
const MINUS = 0x2d
const HASH = 0x23

/** A scalar behind `|` or `>`, the cursor at the sign. `parentIndent` is the column of what it belongs to. */
export function scanBlock(cursor: Cursor, parentIndent: number): string {
  const start = cursor.mark()
  const isFolded = cursor.code() === GREATER
  cursor.forward()
  const { chomping, indicator } = scanHeader(cursor, start)
  let { breaks, indent } = scanBreaks(
    cursor,
    indicator === 0 ? undefined : Math.max(parentIndent, 0) + indicator,
    parentIndent,
    start,
  )
  let text = ''
  let lineEnd = ''
  let wasBlank = false
  while (cursor.column === indent && cursor.code() !== END) {
    const isBlankLine = isBlank(cursor.code())
    if (isFolded && lineEnd.startsWith('\n') && !wasBlank && !isBlankLine)
      text += breaks === '' ? ' ' : breaks
    else text += lineEnd + breaks
    wasBlank = isBlankLine
    text += cursor.restOfLine()
    lineEnd = cursor.lineBreak()
    ;({ breaks, indent } = scanBreaks(cursor, indent, parentIndent, start))
  }
  if (chomping === '-') return text
  return text + lineEnd + (chomping === '+' ? breaks : '')
}

interface Header {
  readonly chomping: '+' | '-' | undefined
  /** 0: it is the one of the first line. */
  readonly indicator: number
}

function scanHeader(cursor: Cursor, start: Mark): Header {
  let chomping: Header['chomping']
  let indicator = 0
  const scanChomping = (): void => {
    const code = cursor.code()
    if (code !== PLUS && code !== MINUS) return
    chomping = code === PLUS ? '+' : '-'
    cursor.forward()
  }
  const scanIndicator = (): void => {
    const digit = cursor.code() - 0x30
    if (digit < 0 || digit > 9) return
    if (digit === 0)
      throw wrongCharacters('found an indentation indicator equal to 0', cursor, start)
    indicator = digit
    cursor.forward()
  }
  scanChomping()
  scanIndicator()
  if (chomping === undefined) scanChomping()
  while (isBlank(cursor.code())) cursor.forward()
  if (cursor.code() === HASH) cursor.restOfLine()
  if (!isBreakOrEnd(cursor.code()))
    throw wrongCharacters('did not find expected comment or line break', cursor, start)
  cursor.lineBreak()
  return { chomping, indicator }
}

/** Empty lines in front of one that says something; without an indent, that one's counts. */
function scanBreaks(
  cursor: Cursor,
  given: number | undefined,
  parentIndent: number,
  start: Mark,
): { breaks: string; indent: number } {
  const isIndentation = (): boolean => given === undefined || cursor.column < given
  let breaks = ''
  let widest = 0
  for (;;) {
    while (isIndentation() && cursor.code() === SPACE) cursor.forward()
    widest = Math.max(widest, cursor.column)
    if (isIndentation() && cursor.code() === TAB)
      throw wrongCharacters(
        'found a tab character where an indentation space is expected',
        cursor,
        start,
      )
    if (!isBreak(cursor.code())) break
    breaks += cursor.lineBreak()
  }
  return { breaks, indent: given ?? Math.max(widest, parentIndent + 1, 1) }
}
