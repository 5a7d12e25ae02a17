/** PKCS #10 requests as a kubelet or a person would make them. */
import { createPublicKey, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { der, generateKeyPair, ipAddressBytes, pem } from '../x509/index.ts'

/** What stands in a certificate signing request (RFC 2986). */
export interface SigningRequestOptions {
  /** Default: an EC P-256 key of its own. */
  readonly privateKey?: KeyObject
  readonly commonName?: string
  readonly organizations?: readonly string[]
  readonly dnsNames?: readonly string[]
  readonly emailAddresses?: readonly string[]
  readonly ipAddresses?: readonly string[]
  readonly uris?: readonly string[]
  /** More extensions to ask for. */
  readonly extensions?: readonly Uint8Array[]
  /** AlgorithmIdentifier and digest. Default: those that go with the key. */
  readonly algorithm?: SignatureAlgorithm
  /** Changes the request before it is signed. */
  readonly tampered?: boolean
}

/** AlgorithmIdentifier in DER, and the digest that node:crypto signs with; `null`: the algorithm has its own. */
export interface SignatureAlgorithm {
  readonly identifier: Uint8Array
  readonly digest: string | null
}

/** Those that go with keys by default: sha256WithRSAEncryption, ecdsa-with-SHA256, Ed25519. */
export const signatureAlgorithms = {
  rsa: {
    identifier: der.sequence(der.objectIdentifier('1.2.840.113549.1.1.11'), der.nothing()),
    digest: 'sha256',
  },
  ec: { identifier: der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2')), digest: 'sha256' },
  ed25519: { identifier: der.sequence(der.objectIdentifier('1.3.101.112')), digest: null },
} as const satisfies Record<string, SignatureAlgorithm>

/** In PEM. */
export function signingRequestPem(options: SigningRequestOptions = {}): string {
  const privateKey = options.privateKey ?? generateKeyPair().privateKey
  const type = (privateKey.asymmetricKeyType ?? '') as keyof typeof signatureAlgorithms
  const { identifier, digest } = options.algorithm ?? signatureAlgorithms[type]
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  const info = der.sequence(
    der.integer(Uint8Array.of(0)),
    subjectOf(options),
    publicKey,
    der.explicit(0, attributesOf(options)),
  )
  const signature = sign(digest, options.tampered ? Buffer.concat([info, info]) : info, privateKey)
  return pem(
    'CERTIFICATE REQUEST',
    der.sequence(info, Buffer.from(identifier), der.bitString(signature)),
  )
}

function subjectOf({ commonName, organizations = [] }: SigningRequestOptions): Buffer {
  const attributes = [
    ...organizations.map((text) => ['2.5.4.10', text] as const),
    ...(commonName === undefined ? [] : [['2.5.4.3', commonName] as const]),
  ]
  return der.sequence(
    ...attributes.map(([oid, text]) =>
      der.set(der.sequence(der.objectIdentifier(oid), der.utf8String(text))),
    ),
  )
}

function attributesOf(options: SigningRequestOptions): Buffer {
  const names = [
    ...(options.emailAddresses ?? []).map((text) => der.implicit(1, Buffer.from(text))),
    ...(options.dnsNames ?? []).map((text) => der.implicit(2, Buffer.from(text))),
    ...(options.uris ?? []).map((text) => der.implicit(6, Buffer.from(text))),
    ...(options.ipAddresses ?? []).map((text) => der.implicit(7, ipAddressBytes(text))),
  ]
  const extensions = [...(options.extensions ?? [])]
  if (names.length > 0)
    extensions.push(
      der.sequence(der.objectIdentifier('2.5.29.17'), der.octetString(der.sequence(...names))),
    )
  if (extensions.length === 0) return Buffer.alloc(0)
  return der.sequence(
    der.objectIdentifier('1.2.840.113549.1.9.14'),
    der.set(der.sequence(...extensions)),
  )
}
