import { END, isBlank, isBreak, isSpaceOrEnd } from './cursor.ts'
import type { Cursor, Mark } from './cursor.ts'
import { folded } from './scan-plain.ts'
import { wrongCharacters } from './yaml-error.ts'

const DOUBLE = 0x22
const SINGLE = 0x27
const BACKSLASH = 0x5c

/** A scalar in single or double quotes, the cursor at the first. */
export function scanQuoted(cursor: Cursor): string {
  const start = cursor.mark()
  const quote = cursor.code()
  cursor.forward()
  let text = ''
  for (;;) {
    if (cursor.isAtDocumentMark())
      throw wrongCharacters('found unexpected document indicator', cursor, start)
    if (cursor.code() === END)
      throw wrongCharacters('found unexpected end of stream', cursor, start)
    const words = scanWords(cursor, quote, start)
    text += words.text
    if (cursor.code() === quote) break
    text += scanSpaces(cursor, words.brokenLine)
  }
  cursor.forward()
  return text
}

interface Words {
  readonly text: string
  /** It ends with a backslash before the end of a line. */
  readonly brokenLine: boolean
}

/** What stands up to a space, a break, or the quote. */
function scanWords(cursor: Cursor, quote: number, start: Mark): Words {
  let text = ''
  for (let code = cursor.code(); !isSpaceOrEnd(code); code = cursor.code()) {
    if (quote === SINGLE && code === SINGLE && cursor.code(1) === SINGLE) {
      text += "'"
      cursor.forward(2)
    } else if (code === quote) break
    else if (quote === DOUBLE && code === BACKSLASH && isBreak(cursor.code(1))) {
      cursor.forward()
      cursor.lineBreak()
      return { text, brokenLine: true }
    } else if (quote === DOUBLE && code === BACKSLASH) text += scanEscape(cursor, start)
    else text += plainRun(cursor)
  }
  return { text, brokenLine: false }
}

function plainRun(cursor: Cursor): string {
  const { text, offset } = cursor
  let at = offset + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === DOUBLE || code === SINGLE || code === BACKSLASH || isSpaceOrEnd(code)) break
  }
  cursor.forward(at - offset)
  return text.slice(offset, at)
}

/** Spaces within a line stay, those around its end go. */
function scanSpaces(cursor: Cursor, afterBrokenLine: boolean): string {
  let blanks = ''
  let firstBreak = ''
  let laterBreaks = ''
  let onNewLine = afterBrokenLine
  for (let code = cursor.code(); isBlank(code) || isBreak(code); code = cursor.code()) {
    if (isBlank(code)) {
      if (!onNewLine) blanks += String.fromCharCode(code)
      cursor.forward()
    } else if (onNewLine) laterBreaks += cursor.lineBreak()
    else {
      firstBreak = cursor.lineBreak()
      onNewLine = true
    }
  }
  return onNewLine ? folded(firstBreak, laterBreaks) : blanks
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
])
const DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

function scanEscape(cursor: Cursor, start: Mark): string {
  const code = cursor.code(1)
  const letter = code === END ? '' : String.fromCharCode(code)
  const meant = ESCAPES.get(letter)
  const digits = DIGITS[letter]
  if (meant === undefined && digits === undefined)
    throw wrongCharacters('found unknown escape character', cursor, start)
  cursor.forward(2)
  if (digits === undefined) return meant!
  const hexadecimal = cursor.text.slice(cursor.offset, cursor.offset + digits)
  if (!/^[0-9a-fA-F]+$/.test(hexadecimal) || hexadecimal.length < digits)
    throw wrongCharacters('did not find expected hexdecimal number', cursor, start)
  const point = Number.parseInt(hexadecimal, 16)
  if ((point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff)
    throw wrongCharacters('found invalid Unicode character escape code', cursor, start)
  cursor.forward(digits)
  return String.fromCodePoint(point)
}
