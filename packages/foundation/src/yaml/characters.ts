/** From bytes to a text, and what YAML takes no characters of. */
import { YamlError } from './yaml-error.ts'

/** UTF-8, or UTF-16 when it begins with that mark. Throws YamlError. */
export function decodeUtf(bytes: Uint8Array): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new YamlError(
      `yaml: ${encoding === 'utf-8' ? utf8Problem(bytes) : 'invalid Unicode character'}`,
      0,
    )
  }
}

/** As Go writes bytes into JSON: each that belongs to no character becomes a replacement character. */
export function goText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const width = characterAt(bytes, at)
    text +=
      typeof width === 'string' ? '\ufffd' : Buffer.from(bytes.subarray(at, at + width)).toString()
    at += typeof width === 'string' ? 1 : width
  }
  return text
}

/** What is wrong with the first character that is none. */
function utf8Problem(bytes: Uint8Array): string {
  for (let at = 0; at < bytes.length;) {
    const width = characterAt(bytes, at)
    if (typeof width === 'string')
      return CONTROL.test(goText(bytes.subarray(0, at))) ? NO_CONTROL : width
    at += width
  }
  return 'invalid Unicode character'
}

/** How many bytes a character takes, or why it is none. */
function characterAt(bytes: Uint8Array, at: number): number | string {
  const lead = bytes[at]!
  const width = widthOf(lead)
  if (width === 0) return 'invalid leading UTF-8 octet'
  if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence'
  let point = width === 1 ? lead : lead & (0xff >> (width + 1))
  for (const trailing of bytes.subarray(at + 1, at + width)) {
    if (trailing >> 6 !== 2) return 'invalid trailing UTF-8 octet'
    point = (point << 6) | (trailing & 0x3f)
  }
  if (point < LEAST_OF_WIDTH[width]!) return 'invalid length of a UTF-8 sequence'
  const isCharacter = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
  return isCharacter ? width : 'invalid Unicode character'
}

/** By its leading octet; 0: it is none. */
export function widthOf(lead: number): number {
  if (lead < 0x80) return 1
  if (lead >> 5 === 6) return 2
  if (lead >> 4 === 14) return 3
  return lead >> 3 === 30 ? 4 : 0
}

const LEAST_OF_WIDTH: readonly number[] = [0, 0, 0x80, 0x800, 0x10000]

// oxlint-disable-next-line no-control-regex -- all but tabs and breaks
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]/u
const NO_CONTROL = 'control characters are not allowed'
/** In bytes: so much is looked through at once, before any of it is read. */
const CHUNK = 512

/** Throws YamlError. `read`: up to where the document was read. */
export function refuseControlCharacters(text: string, read: number): void {
  const found = CONTROL.exec(text)
  if (found === null) return
  const chunk = Math.floor(Buffer.byteLength(text.slice(0, found.index)) / CHUNK) * CHUNK
  if (Buffer.byteLength(text.slice(0, read)) < chunk) return
  throw new YamlError(`yaml: ${NO_CONTROL}`, found.index)
}
