/** What node:crypto does not tell of a certificate. Fields are those of RFC 5280, 4.1. */
import type { X509Certificate } from 'node:crypto'
import { TAG, childrenOf, expectTag, objectIdentifierOf, onlyElement } from './der-reader.ts'

const EXTENSIONS = 0xa3
const VERSION = 0xa0

/** Byte for byte what the certificate says: a name that is written anew may no longer be the same. Throws DerError. */
export function subjectDerOf({ raw }: X509Certificate): Uint8Array {
  const fields = fieldsOf(raw)
  // The version may be left out.
  return expectTag(fields[fields[0]?.tag === VERSION ? 5 : 4], TAG.sequence).raw
}

/** The value of an extension; undefined: the certificate has none of this identifier. Throws DerError. */
export function extensionOf({ raw }: X509Certificate, identifier: string): Uint8Array | undefined {
  const extensions = fieldsOf(raw).find(({ tag }) => tag === EXTENSIONS)
  if (extensions === undefined) return undefined
  for (const entry of childrenOf(onlyElement(extensions.content), TAG.sequence)) {
    const parts = childrenOf(entry, TAG.sequence)
    if (objectIdentifierOf(parts[0]) === identifier)
      return expectTag(parts.at(-1), TAG.octetString).content
  }
  return undefined
}

function fieldsOf(raw: Uint8Array) {
  const [toBeSigned] = childrenOf(onlyElement(raw), TAG.sequence)
  return childrenOf(toBeSigned, TAG.sequence)
}
