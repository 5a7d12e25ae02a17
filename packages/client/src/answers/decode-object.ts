/** How much of an object is decoded: see RequestOptions. */
export type Decoding = 'whole' | 'lean' | 'metadata'

const METADATA = '"metadata":{'
const MANAGED_FIELDS = ',"managedFields":[{'
const MANAGED_FIELDS_END = '}]'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d

/**
 * The JSON text of an object, or of a watch event, which has the object one level deeper. managedFields are cut out as text: they
 * are a third to a half of most objects, and their keys, hardly ever twice the same, the dearest part to decode. Throws as JSON.parse.
 */
export function decodeObject(text: string, decoding: Decoding, depth: 1 | 2 = 1): unknown {
  if (decoding === 'whole') return JSON.parse(text)
  const start = managedFieldsAt(text, depth)
  if (start === -1) return JSON.parse(text)
  return (
    (decoding === 'metadata' ? metadataOf(text, start, depth) : undefined) ??
    leanObject(text, start)
  )
}

/** Where metadata.managedFields of the object begin; -1: it has none, or is written unlike any that servers send. */
function managedFieldsAt(text: string, depth: number): number {
  const start = text.indexOf(MANAGED_FIELDS)
  if (start === -1) return -1
  const metadata = text.indexOf(METADATA)
  if (metadata === -1 || metadata > start || depthOver(text, 0, metadata) !== depth) return -1
  return depthOver(text, metadata + METADATA.length, start) === 0 ? start : -1
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

/** Servers write managedFields last of the metadata, and what follows that later; but for custom objects, whose keys are in alphabetical order. */
function metadataOf(text: string, start: number, depth: number): unknown {
  try {
    const value = JSON.parse(text.slice(0, start) + '}'.repeat(depth + 1))
    const object = depth === 1 ? value : value.object
    return typeof object.metadata.resourceVersion === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * There are no lists within managedFields, so that they end where `}]` comes first. Should that be in a key of theirs, what is left
 * is no JSON, for the text behind it begins amid a string: quotes are then the wrong way round, and keys (`f:`, `k:`, `v:`) stand bare.
 */
function leanObject(text: string, start: number): unknown {
  const end = text.indexOf(MANAGED_FIELDS_END, start)
  try {
    return JSON.parse(text.slice(0, start) + text.slice(end + MANAGED_FIELDS_END.length))
  } catch {
    return JSON.parse(text)
  }
}
