/** The extension subjectAltName (RFC 5280, 4.2.1.6). */
import { TAG, childrenOf, onlyElement } from './der-reader.ts'
import type { DerElement } from './der-reader.ts'

/** Alternative names by kind; of each in the order of the request. */
export interface AlternativeNames {
  readonly dnsNames: readonly string[]
  readonly emailAddresses: readonly string[]
  /** 4 or 16 bytes each. */
  readonly ipAddresses: readonly Uint8Array[]
  readonly uris: readonly string[]
}

/** Of the values of such extensions. Throws an Error in Go's words, or DerError. */
export function alternativeNamesOf(values: readonly Uint8Array[]): AlternativeNames {
  const names: NameLists = { dnsNames: [], emailAddresses: [], ipAddresses: [], uris: [] }
  for (const value of values)
    for (const general of childrenOf(onlyElement(value), TAG.sequence)) addName(general, names)
  return names
}

interface NameLists {
  dnsNames: string[]
  emailAddresses: string[]
  ipAddresses: Uint8Array[]
  uris: string[]
}

/** Kinds of names that Kubernetes does not know are lost. */
function addName({ tag, content }: DerElement, names: NameLists): void {
  switch (tag) {
    case 0x81:
      names.emailAddresses.push(asciiOf(content, 'rfc822Name'))
      break
    case 0x82:
      names.dnsNames.push(asciiOf(content, 'dNSName'))
      break
    case 0x86: {
      const uri = asciiOf(content, 'uniformResourceIdentifier')
      if (!URL.canParse(uri, 'relative://base'))
        throw new Error(`x509: cannot parse URI ${JSON.stringify(uri)}`)
      names.uris.push(uri)
      break
    }
    case 0x87:
      if (content.length !== 4 && content.length !== 16)
        throw new Error(`x509: cannot parse IP address of length ${content.length}`)
      names.ipAddresses.push(content)
      break
    default:
  }
}

function asciiOf(content: Uint8Array, kind: string): string {
  if (content.some((byte) => byte >= 0x80)) throw new Error(`x509: SAN ${kind} is malformed`)
  return Buffer.from(content).toString('ascii')
}
