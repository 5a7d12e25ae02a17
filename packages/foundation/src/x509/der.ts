/** The little of DER (X.690) that certificates need, written; `der-reader.ts` reads. Why not a library: docs/decisions/0005-certificates.md. */
const UNIVERSAL = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

const GENERALIZED_TIME_FROM_MS = Date.UTC(2050, 0, 1)

/** Tag, length and content. */
export function tagged(tag: number, content: Uint8Array): Buffer {
  const length = content.length
  if (length < 0x80) return Buffer.concat([Uint8Array.of(tag, length), content])
  const lengthBytes: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) lengthBytes.unshift(rest & 0xff)
  return Buffer.concat([Uint8Array.of(tag, 0x80 | lengthBytes.length, ...lengthBytes), content])
}

export function sequence(...parts: Uint8Array[]): Buffer {
  return tagged(UNIVERSAL.sequence, Buffer.concat(parts))
}

export function set(...parts: Uint8Array[]): Buffer {
  return tagged(UNIVERSAL.set, Buffer.concat(parts))
}

/** `[number] EXPLICIT`. */
export function explicit(number: number, content: Uint8Array): Buffer {
  return tagged(0xa0 | number, content)
}

/** `[number] IMPLICIT` of a primitive type. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return tagged(0x80 | number, content)
}

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const significant = bytes.subarray(start)
  const needsSignByte = (significant[0] ?? 0) >= 0x80
  return tagged(
    UNIVERSAL.integer,
    needsSignByte ? Buffer.concat([Uint8Array.of(0), significant]) : significant,
  )
}

export function boolean(value: boolean): Buffer {
  return tagged(UNIVERSAL.boolean, Uint8Array.of(value ? 0xff : 0))
}

export function octetString(content: Uint8Array): Buffer {
  return tagged(UNIVERSAL.octetString, content)
}

/** `unusedBits` of the last byte do not count. */
export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return tagged(UNIVERSAL.bitString, Buffer.concat([Uint8Array.of(unusedBits), content]))
}

export function nothing(): Buffer {
  return tagged(UNIVERSAL.null, new Uint8Array())
}

/** Only of text that `isPrintable`. */
export function printableString(text: string): Buffer {
  return tagged(UNIVERSAL.printableString, Buffer.from(text, 'ascii'))
}

/** Whether a PrintableString can hold the text. */
export function isPrintable(text: string): boolean {
  return /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text)
}

export function utf8String(text: string): Buffer {
  return tagged(UNIVERSAL.utf8String, Buffer.from(text, 'utf8'))
}

/** `1.2.840.10045.2.1` */
export function objectIdentifier(dotted: string): Buffer {
  const numbers = dotted.split('.').map(Number)
  const bytes = [numbers[0]! * 40 + numbers[1]!]
  for (const number of numbers.slice(2)) {
    const base128 = [number & 0x7f]
    for (let rest = number >>> 7; rest > 0; rest >>>= 7) base128.unshift(0x80 | (rest & 0x7f))
    bytes.push(...base128)
  }
  return tagged(UNIVERSAL.objectIdentifier, Uint8Array.from(bytes))
}

/** UTCTime before 2050, GeneralizedTime from then on (RFC 5280, 4.1.2.5). */
export function time(timeMs: number): Buffer {
  const digits = new Date(timeMs).toISOString().slice(0, 19).replace(/[-:T]/g, '')
  if (timeMs >= GENERALIZED_TIME_FROM_MS)
    return tagged(UNIVERSAL.generalizedTime, Buffer.from(`${digits}Z`))
  return tagged(UNIVERSAL.utcTime, Buffer.from(`${digits.slice(2)}Z`))
}
