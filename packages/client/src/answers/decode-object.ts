import type { KubernetesObject } from '@gyropilot/api'
import { parseExact } from '@gyropilot/foundation/exact-json'

/** How much of an object is decoded: see RequestOptions. */
export type Decoding = 'whole' | 'lean' | 'metadata' | LeanDecoding

/** As `lean`, with somebody who may know parts of objects by their text. */
export interface LeanDecoding {
  /**
   * Puts into `object`, of which kind, apiVersion and metadata are there, what follows: `"spec":{...},"status":{...}`, where that is all.
   * False, or an error: it did not, and nothing was put in.
   */
  complete(object: KubernetesObject, rest: string): boolean
}

/** An object, or a watch event. */
type Decoded = KubernetesObject & { readonly object: KubernetesObject }

const METADATA = '"metadata":{'
const MANAGED_FIELDS = ',"managedFields":[{'
const MANAGED_FIELDS_END = '}]'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d

/**
 * The JSON text of an object, or of a watch event, which has the object one level deeper. managedFields are cut out as text: they
 * are a third to a half of most objects, and their keys, hardly ever twice the same, the dearest part to decode. Throws as JSON.parse.
 */
export function decodeObject(text: string, decoding: Decoding, depth: 1 | 2 = 1): unknown {
  if (decoding === 'whole') return parseExact(text)
  const start = text.indexOf(MANAGED_FIELDS)
  if (start === -1) return parseExact(text)
  // There are no lists within managedFields, so that they end where `}]` comes first.
  const end = text.indexOf(MANAGED_FIELDS_END, start) + MANAGED_FIELDS_END.length
  return inTwo(text, start, end, decoding, depth) ?? withoutPart(text, start, end, depth)
}

/**
 * Servers write managedFields last of the metadata, and what follows that later: what is before them, closed, is an object with its
 * metadata, and what is behind them is its other fields. Undefined: it is not written so.
 */
function inTwo(
  text: string,
  start: number,
  end: number,
  decoding: Exclude<Decoding, 'whole'>,
  depth: 1 | 2,
): unknown {
  const last = text.trimEnd().length - depth
  const isAll = end + 1 === last
  if (text.charCodeAt(end) !== CLOSE || !(isAll || text.charCodeAt(end + 1) === COMMA)) return
  if (!text.endsWith('}'.repeat(depth), last + depth)) return
  try {
    const value = parseExact(text.slice(0, start) + '}'.repeat(depth + 1)) as Decoded
    const object = depth === 1 ? value : value.object
    if (Object.keys(object).at(-1) !== 'metadata') return
    if (isAll || decoding === 'metadata') return value
    const rest = text.slice(end + 2, last)
    if (decoding !== 'lean' && decoding.complete(object, rest)) return value
    const fields = parseExact(`{${rest}}`) as object
    // Assigned it would be the prototype.
    if (Object.hasOwn(fields, '__proto__')) return
    Object.assign(object, fields)
    return value
  } catch {
    return
  }
}

/**
 * Custom objects have their keys in alphabetical order, and so some behind managedFields. Should `}]` be in a key within these, what is
 * left is no JSON, for the text behind it begins amid a string: quotes are then the wrong way round, and keys (`f:`, `k:`, `v:`) stand bare.
 */
function withoutPart(text: string, start: number, end: number, depth: number): unknown {
  if (!isInMetadata(text, start, depth)) return parseExact(text)
  try {
    return parseExact(text.slice(0, start) + text.slice(end))
  } catch {
    return parseExact(text)
  }
}

function isInMetadata(text: string, at: number, depth: number): boolean {
  const metadata = text.indexOf(METADATA)
  if (metadata === -1 || metadata > at || depthOver(text, 0, metadata) !== depth) return false
  return depthOver(text, metadata + METADATA.length, at) === 0
}

/** How many objects are open at the end; -1 when one ended that did not begin here. */
function depthOver(text: string, start: number, end: number): number {
  let depth = 0
  let inString = false
  for (let i = start; i < end; i++) {
    const character = text.charCodeAt(i)
    if (inString) {
      if (character === BACKSLASH) i++
      else if (character === QUOTE) inString = false
    } else if (character === QUOTE) inString = true
    else if (character === OPEN) depth++
    else if (character === CLOSE && --depth < 0) return -1
  }
  return depth
}
