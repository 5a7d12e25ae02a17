import { parseExact } from '@gyropilot/foundation/exact-json'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const WHITE_SPACE: readonly number[] = [0x20, 0x0a, 0x0d, 0x09]
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const ITEMS = Buffer.from('"items"')

/**
 * The value of a JSON list whose text would be longer than a string can be (half a gigabyte: 100,000 pods in one answer).
 * Its items are parsed one by one, all the rest at once. Throws SyntaxError, as JSON.parse does, for what is no such list.
 */
export function parseLargeList(bytes: Buffer): unknown {
  const itemsAt = placeOfItems(bytes)
  if (itemsAt === -1) throw new SyntaxError('a large answer is not a list')
  const items: unknown[] = []
  let at = itemsAt + 1
  for (;;) {
    const start = nextOpening(bytes, at, items.length === 0)
    if (start === -1) break
    const end = endOfValue(bytes, start)
    items.push(parseExact(bytes.toString('utf8', start, end)))
    at = end
  }
  const close = bytes.indexOf(CLOSE_ARRAY, at)
  const rest = `${bytes.toString('utf8', 0, itemsAt + 1)}${bytes.toString('utf8', close)}`
  return { ...(parseExact(rest) as object), items }
}

/** Where the array of the `items` of the outermost object begins, or -1. */
function placeOfItems(bytes: Buffer): number {
  let depth = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) {
      const end = endOfString(bytes, i)
      const isItems = depth === 1 && bytes.compare(ITEMS, 0, ITEMS.length, i, end) === 0
      if (isItems && /^\s*:\s*\[/.test(bytes.toString('latin1', end, end + 20)))
        return bytes.indexOf(OPEN_ARRAY, bytes.indexOf(COLON, end))
      i = end - 1
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth++
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth--
    }
  }
  return -1
}

/** The next `{` before the end of the array, or -1. Only white space may come before it, and one comma between two items. */
function nextOpening(bytes: Buffer, from: number, isFirst: boolean): number {
  let mayOpen = isFirst
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === OPEN_OBJECT && mayOpen) return i
    if (byte === CLOSE_ARRAY && mayOpen === isFirst) return -1
    if (byte === COMMA && !mayOpen) mayOpen = true
    else if (!WHITE_SPACE.includes(byte))
      throw new SyntaxError('the items of a large list are no list of objects')
  }
  throw new SyntaxError('a large list ends inside its items')
}

function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0
  for (let i = start; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) i = endOfString(bytes, i) - 1
    else if (byte === OPEN_OBJECT) depth++
    else if (byte === CLOSE_OBJECT && --depth === 0) return i + 1
  }
  throw new SyntaxError('a large list ends inside an item')
}

/** Behind the closing quote. */
function endOfString(bytes: Buffer, start: number): number {
  for (let i = start + 1; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH) i++
    else if (bytes[i] === QUOTE) return i + 1
  }
  throw new SyntaxError('a large list ends inside a string')
}
