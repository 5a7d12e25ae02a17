/** Anchors, tags and directives: what stands in front of values and documents. */
import { widthOf } from './characters.ts'
import { isBlank, isBreakOrEnd, isSpaceOrEnd, isWord } from './cursor.ts'
import type { Cursor, Mark } from './cursor.ts'
import type { Token } from './tokens.ts'
import { wrongCharacters } from './yaml-error.ts'

const EXCLAMATION = 0x21
const PERCENT = 0x25
const HASH = 0x23
const DOT = 0x2e
const LESS = 0x3c
const GREATER = 0x3e
/** What may follow a name at once: ? : , ] } % @ ` */
const AFTER_NAME: ReadonlySet<number> = new Set([0x3f, 0x3a, 0x2c, 0x5d, 0x7d, 0x25, 0x40, 0x60])

/** `&name` or `*name`. */
export function scanAnchor(cursor: Cursor, type: 'anchor' | 'alias'): Token {
  const mark = cursor.mark()
  cursor.forward()
  const text = scanWord(cursor)
  const next = cursor.code()
  if (text === '' || !(isSpaceOrEnd(next) || AFTER_NAME.has(next)))
    throw wrongCharacters('did not find expected alphabetic or numeric character', cursor, mark)
  return { type, mark, text }
}

/** `!<uri>`, `!handle!suffix` or `!suffix`. */
export function scanTag(cursor: Cursor): Token {
  const mark = cursor.mark()
  let handle = ''
  let text: string
  if (cursor.code(1) === LESS) {
    cursor.forward(2)
    text = scanUri(cursor, '', mark)
    if (cursor.code() !== GREATER)
      throw wrongCharacters("did not find the expected '>'", cursor, mark)
    cursor.forward()
  } else {
    handle = scanHandle(cursor)
    if (handle.length > 1 && handle.endsWith('!')) text = scanUri(cursor, '', mark)
    else {
      text = scanUri(cursor, handle, mark)
      handle = '!'
      // A lone sign is a tag of its own.
      if (text === '') [handle, text] = ['', '!']
    }
  }
  if (!isSpaceOrEnd(cursor.code()))
    throw wrongCharacters('did not find expected whitespace or line break', cursor, mark)
  return { type: 'tag', mark, handle, text }
}

/** `%YAML 1.1` or `%TAG !e! tag:example.com,2000:`, and the rest of the line. */
export function scanDirective(cursor: Cursor): Token {
  const mark = cursor.mark()
  cursor.forward()
  const name = scanWord(cursor)
  if (name === '') throw wrongCharacters('could not find expected directive name', cursor, mark)
  if (!isSpaceOrEnd(cursor.code()))
    throw wrongCharacters('found unexpected non-alphabetical character', cursor, mark)
  if (name !== 'YAML' && name !== 'TAG')
    throw wrongCharacters('found unknown directive name', cursor, mark)
  skipBlanks(cursor)
  const token = name === 'YAML' ? scanVersion(cursor, mark) : scanTagDirective(cursor, mark)
  skipBlanks(cursor)
  if (cursor.code() === HASH) cursor.restOfLine()
  if (!isBreakOrEnd(cursor.code()))
    throw wrongCharacters('did not find expected comment or line break', cursor, mark)
  cursor.lineBreak()
  return token
}

function scanVersion(cursor: Cursor, mark: Mark): Token {
  const major = scanVersionNumber(cursor, mark)
  if (cursor.code() !== DOT)
    throw wrongCharacters("did not find expected digit or '.' character", cursor, mark)
  cursor.forward()
  return { type: 'version directive', mark, text: `${major}.${scanVersionNumber(cursor, mark)}` }
}

function scanVersionNumber(cursor: Cursor, mark: Mark): number {
  const from = cursor.offset
  while (cursor.code() >= 0x30 && cursor.code() <= 0x39) {
    if (cursor.offset - from === 2)
      throw wrongCharacters('found extremely long version number', cursor, mark)
    cursor.forward()
  }
  if (cursor.offset === from)
    throw wrongCharacters('did not find expected version number', cursor, mark)
  return Number(cursor.text.slice(from, cursor.offset))
}

function scanTagDirective(cursor: Cursor, mark: Mark): Token {
  if (cursor.code() !== EXCLAMATION)
    throw wrongCharacters("did not find expected '!'", cursor, mark)
  const handle = scanHandle(cursor)
  if (handle !== '!' && !handle.endsWith('!'))
    throw wrongCharacters("did not find expected '!'", cursor, mark)
  if (!isBlank(cursor.code()))
    throw wrongCharacters('did not find expected whitespace', cursor, mark)
  skipBlanks(cursor)
  const text = scanUri(cursor, '', mark)
  if (!isSpaceOrEnd(cursor.code()))
    throw wrongCharacters('did not find expected whitespace or line break', cursor, mark)
  return { type: 'tag directive', mark, handle, text }
}

/** `!`, `!!`, `!name!`, or the beginning of `!suffix`. */
function scanHandle(cursor: Cursor): string {
  const from = cursor.offset
  cursor.forward()
  scanWord(cursor)
  if (cursor.code() === EXCLAMATION) cursor.forward()
  return cursor.text.slice(from, cursor.offset)
}

const URI = new Set(
  [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_;/?:@&=+$.,!~*'()[]%"].map(
    (sign) => sign.charCodeAt(0),
  ),
)
/** `head`: what of it was read as a handle, its sign included. */
function scanUri(cursor: Cursor, head: string, start: Mark): string {
  let uri = head.slice(1)
  for (let code = cursor.code(); URI.has(code); code = cursor.code()) {
    if (code === PERCENT) uri += scanUriEscapes(cursor, start)
    else {
      uri += String.fromCharCode(code)
      cursor.forward()
    }
  }
  if (head === '' && uri === '')
    throw wrongCharacters('did not find expected tag URI', cursor, start)
  return uri
}

/** The octets of one character: `%C3%A9`. */
function scanUriEscapes(cursor: Cursor, start: Mark): string {
  const octets: number[] = []
  let width = 1
  while (octets.length < width) {
    const [found, digits] =
      /^%([0-9a-fA-F]{2})/.exec(cursor.text.slice(cursor.offset, cursor.offset + 3)) ?? []
    if (found === undefined) throw wrongCharacters('did not find URI escaped octet', cursor, start)
    const octet = Number.parseInt(digits!, 16)
    if (octets.length === 0) {
      width = widthOf(octet)
      if (width === 0)
        throw wrongCharacters('found an incorrect leading UTF-8 octet', cursor, start)
    } else if ((octet & 0xc0) !== 0x80)
      throw wrongCharacters('found an incorrect trailing UTF-8 octet', cursor, start)
    octets.push(octet)
    cursor.forward(3)
  }
  return Buffer.from(octets).toString('utf8')
}

function scanWord(cursor: Cursor): string {
  const from = cursor.offset
  while (isWord(cursor.code())) cursor.forward()
  return cursor.text.slice(from, cursor.offset)
}

function skipBlanks(cursor: Cursor): void {
  while (isBlank(cursor.code())) cursor.forward()
}
