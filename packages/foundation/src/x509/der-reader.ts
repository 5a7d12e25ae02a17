/** Reads DER (X.690), strictly: what is cut off, too long or not in its shortest form is refused. */
export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  /** With tag and length. */
  readonly raw: Uint8Array
}

export class DerError extends Error {
  override readonly name = 'DerError'

  constructor(problem: string) {
    super(`asn1: syntax error: ${problem}`)
  }
}

/** Universal tags, and those of a constructed form, as they stand in the bytes. */
export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const

const MAX_LENGTH_BYTES = 4

/** All elements of the bytes, one after the other. Throws DerError. */
export function elementsOf(bytes: Uint8Array): DerElement[] {
  const found: DerElement[] = []
  for (let at = 0; at < bytes.length;) {
    const element = elementAt(bytes, at)
    found.push(element)
    at += element.raw.length
  }
  return found
}

/** The one element that the bytes are. */
export function onlyElement(bytes: Uint8Array): DerElement {
  const element = elementAt(bytes, 0)
  if (element.raw.length !== bytes.length) throw new DerError('trailing data')
  return element
}

/** What a constructed element holds. `tag`: which it must have. */
export function childrenOf(element: DerElement | undefined, tag: number): DerElement[] {
  return elementsOf(expectTag(element, tag).content)
}

export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  if (element === undefined) throw new DerError('sequence truncated')
  if (element.tag !== tag) throw new DerError(`tag ${element.tag} where ${tag} is expected`)
  return element
}

/** `1.2.840.10045.2.1` */
export function objectIdentifierOf(element: DerElement | undefined): string {
  const { content } = expectTag(element, TAG.objectIdentifier)
  const arcs: number[] = []
  let arc = 0
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f)
    if (arc > Number.MAX_SAFE_INTEGER) throw new DerError('object identifier too large')
    if (byte >= 0x80) continue
    if (arcs.length > 0) arcs.push(arc)
    else {
      const first = Math.min(2, Math.floor(arc / 40))
      arcs.push(first, arc - first * 40)
    }
    arc = 0
  }
  if (content.length === 0 || content.at(-1)! >= 0x80)
    throw new DerError('malformed object identifier')
  return arcs.join('.')
}

/** Of whole bytes. */
export function bitStringBytes(element: DerElement | undefined): Uint8Array {
  const { content } = expectTag(element, TAG.bitString)
  if (content[0] !== 0) throw new DerError('malformed bit string')
  return content.subarray(1)
}

function elementAt(bytes: Uint8Array, start: number): DerElement {
  const tag = bytes[start]
  const first = bytes[start + 1]
  if (tag === undefined || first === undefined) throw new DerError('data truncated')
  // Certificates have no tags of more than one byte.
  if ((tag & 0x1f) === 0x1f) throw new DerError('tag too large')
  const header = first < 0x80 ? 2 : 2 + (first & 0x7f)
  const length = first < 0x80 ? first : longLength(bytes.subarray(start + 2, start + header), first)
  const end = start + header + length
  if (end > bytes.length) throw new DerError('data truncated')
  return {
    tag,
    content: bytes.subarray(start + header, end),
    raw: bytes.subarray(start, end),
  }
}

function longLength(bytes: Uint8Array, first: number): number {
  const count = first & 0x7f
  if (count === 0 || count > MAX_LENGTH_BYTES) throw new DerError('length out of bounds')
  if (bytes.length < count) throw new DerError('data truncated')
  const length = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  if (bytes[0] === 0 || length < 0x80) throw new DerError('non-minimal length')
  return length
}
