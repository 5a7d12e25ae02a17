import { isBlank, isBreak, isSpaceOrEnd, TAB, END } from './cursor.ts'
import type { Cursor } from './cursor.ts'
import { wrongCharacters } from './yaml-error.ts'

interface PlainScalar {
  readonly text: string
  /** A key may follow at once. */
  readonly endsOnNewLine: boolean
}

/** A scalar without quotes, over all its lines. Lines that stand further left than `indent` end it. */
export function scanPlain(cursor: Cursor, indent: number, inFlow: boolean): PlainScalar {
  const start = cursor.mark()
  let text = ''
  let blanks = ''
  let firstBreak = ''
  let laterBreaks = ''
  let onNewLine = false
  for (;;) {
    if (cursor.isAtDocumentMark() || cursor.code() === HASH) break
    const word = scanWord(cursor, inFlow)
    if (word !== '') {
      text += onNewLine ? folded(firstBreak, laterBreaks) : blanks
      text += word
      blanks = firstBreak = laterBreaks = ''
      onNewLine = false
    }
    if (!isBlank(cursor.code()) && !isBreak(cursor.code())) break
    for (let code = cursor.code(); isBlank(code) || isBreak(code); code = cursor.code()) {
      if (isBreak(code)) {
        if (onNewLine) laterBreaks += cursor.lineBreak()
        else {
          blanks = ''
          firstBreak = cursor.lineBreak()
          onNewLine = true
        }
        continue
      }
      if (onNewLine && cursor.column < indent && code === TAB)
        throw wrongCharacters('found a tab character that violates indentation', cursor, start)
      if (!onNewLine) blanks += String.fromCharCode(code)
      cursor.forward()
    }
    if (!inFlow && cursor.column < indent) break
  }
  return { text, endsOnNewLine: onNewLine }
}

/** One break between two lines is a space, more are one less. */
export function folded(firstBreak: string, laterBreaks: string): string {
  if (firstBreak !== '\n') return firstBreak + laterBreaks
  return laterBreaks === '' ? ' ' : laterBreaks
}

const HASH = 0x23
const COLON = 0x3a
/** , ? [ ] { } */
const FLOW_ENDS: ReadonlySet<number> = new Set([0x2c, 0x3f, 0x5b, 0x5d, 0x7b, 0x7d])

function scanWord(cursor: Cursor, inFlow: boolean): string {
  const { text } = cursor
  const from = cursor.offset
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isSpaceOrEnd(code)) break
    if (code === COLON && isSpaceOrEnd(at + 1 < text.length ? text.charCodeAt(at + 1) : END)) break
    if (inFlow && FLOW_ENDS.has(code)) break
  }
  cursor.forward(at - from)
  return text.slice(from, at)
}
