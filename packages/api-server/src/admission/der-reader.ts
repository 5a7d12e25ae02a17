/** Reads just enough DER to find the subject of a PKCS #10 request. */
interface Element {
  readonly tag: number
  readonly content: Uint8Array
}

const ORGANIZATION = '55040a'

/** Organizations of the request in a PEM text; empty when it cannot be read (validation refuses that). */
export function organizationsOfRequest(pem: string): string[] {
  const base64 = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*?)-----END/.exec(pem)?.[1]
  if (base64 === undefined) return []
  const [outer] = elements(Buffer.from(base64, 'base64'))
  const [info] = outer === undefined ? [] : elements(outer.content)
  const subject = info === undefined ? undefined : elements(info.content)[1]
  if (subject === undefined) return []
  const found: string[] = []
  for (const set of elements(subject.content)) {
    for (const attribute of elements(set.content)) {
      const [type, value] = elements(attribute.content)
      if (
        type !== undefined &&
        value !== undefined &&
        Buffer.from(type.content).toString('hex') === ORGANIZATION
      ) {
        found.push(Buffer.from(value.content).toString('utf8'))
      }
    }
  }
  return found
}

function elements(bytes: Uint8Array): Element[] {
  const found: Element[] = []
  for (let at = 0; at + 2 <= bytes.length;) {
    const tag = bytes[at]!
    let length = bytes[at + 1]!
    at += 2
    if (length >= 0x80) {
      const count = length & 0x7f
      length = 0
      for (let i = 0; i < count; i++) length = length * 256 + (bytes[at + i] ?? 0)
      at += count
    }
    found.push({ tag, content: bytes.subarray(at, at + length) })
    at += length
  }
  return found
}
