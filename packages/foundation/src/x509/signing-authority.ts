/** Signs what others ask for, with the certificate and the key of an authority that was handed in. */
import { createPrivateKey, sign } from 'node:crypto'
import type { KeyObject, X509Certificate } from 'node:crypto'
import { extension, pem } from './certificate.ts'
import type { CertificateAndKey } from './certificate.ts'
import { extensionOf, subjectDerOf } from './certificate-parts.ts'
import type { AlternativeNames } from './alternative-names.ts'
import * as der from './der.ts'
import { TAG, expectTag, onlyElement } from './der-reader.ts'
import { EXTENSION } from './extension-identifiers.ts'
import { certificatesOfPem } from './server-identity.ts'
import { writeSubject } from './subject.ts'
import type { Subject } from './subject.ts'

export interface LeafCertificate extends AlternativeNames {
  readonly subject: Pick<Subject, 'attributes'>
  /** SubjectPublicKeyInfo. */
  readonly publicKeyDer: Uint8Array
  /** 16 bytes. */
  readonly serialNumber: Uint8Array
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** Numbers of bits as in RFC 5280, 4.2.1.3. None: without the extension. */
  readonly keyUsageBits: readonly number[]
  /** Object identifiers, in this order. None: without the extension. */
  readonly extendedKeyUsages: readonly string[]
}

/** A certificate that may sign others, with its key. */
export class SigningAuthority {
  readonly notAfterMs: number
  readonly #key: KeyObject
  readonly #algorithm: SigningAlgorithm
  readonly #subjectDer: Uint8Array
  readonly #keyIdentifier: Uint8Array | undefined

  /** Throws when there is not exactly one certificate, or the key is not its own, or cannot sign. */
  constructor({ certificatePem, privateKeyPem }: CertificateAndKey) {
    const [certificate, ...more] = certificatesOfPem(certificatePem)
    if (certificate === undefined || more.length > 0)
      throw new Error(
        `expected exactly one certificate, found ${certificatesFound(more, certificate)}`,
      )
    this.#key = createPrivateKey(privateKeyPem)
    this.#algorithm = algorithmOf(this.#key)
    if (!certificate.checkPrivateKey(this.#key))
      throw new Error('private key does not match public key')
    this.notAfterMs = certificate.validToDate.getTime()
    this.#subjectDer = subjectDerOf(certificate)
    this.#keyIdentifier = keyIdentifierOf(certificate)
  }

  /** In PEM. */
  sign(leaf: LeafCertificate): string {
    const toBeSigned = der.sequence(
      der.explicit(0, der.integer(Uint8Array.of(2))),
      der.integer(leaf.serialNumber),
      this.#algorithm.identifier,
      this.#subjectDer,
      der.sequence(der.time(leaf.notBeforeMs), der.time(leaf.notAfterMs)),
      writeSubject(leaf.subject),
      leaf.publicKeyDer,
      der.explicit(3, der.sequence(...this.#extensions(leaf))),
    )
    const signature = sign(this.#algorithm.digest, toBeSigned, this.#key)
    const signed = der.sequence(toBeSigned, this.#algorithm.identifier, der.bitString(signature))
    return pem('CERTIFICATE', signed)
  }

  #extensions(leaf: LeafCertificate): Buffer[] {
    const found: Buffer[] = []
    if (leaf.keyUsageBits.length > 0)
      found.push(extension(EXTENSION.keyUsage, true, bitsOf(leaf.keyUsageBits)))
    if (leaf.extendedKeyUsages.length > 0) {
      const usages = leaf.extendedKeyUsages.map((oid) => der.objectIdentifier(oid))
      found.push(extension(EXTENSION.extendedKeyUsage, false, der.sequence(...usages)))
    }
    found.push(extension(EXTENSION.basicConstraints, true, der.sequence()))
    if (this.#keyIdentifier !== undefined) {
      const identifier = der.sequence(der.implicit(0, this.#keyIdentifier))
      found.push(extension(EXTENSION.authorityKeyIdentifier, false, identifier))
    }
    const names = [
      ...leaf.dnsNames.map((text) => der.implicit(2, Buffer.from(text, 'ascii'))),
      ...leaf.emailAddresses.map((text) => der.implicit(1, Buffer.from(text, 'ascii'))),
      ...leaf.ipAddresses.map((bytes) => der.implicit(7, bytes)),
      ...leaf.uris.map((text) => der.implicit(6, Buffer.from(text, 'ascii'))),
    ]
    // Nothing else says who it is about when there is no subject (RFC 5280, 4.2.1.6).
    const critical = writeSubject(leaf.subject).length === der.sequence().length
    if (names.length > 0)
      found.push(extension(EXTENSION.subjectAltName, critical, der.sequence(...names)))
    return found
  }
}

function certificatesFound(more: readonly unknown[], first: unknown): number {
  return more.length + (first === undefined ? 0 : 1)
}

interface SigningAlgorithm {
  /** AlgorithmIdentifier. */
  readonly identifier: Buffer
  readonly digest: 'sha256' | 'sha384' | 'sha512' | null
}

const RSA: SigningAlgorithm = {
  identifier: der.sequence(der.objectIdentifier('1.2.840.113549.1.1.11'), der.nothing()),
  digest: 'sha256',
}
const ED25519: SigningAlgorithm = {
  identifier: der.sequence(der.objectIdentifier('1.3.101.112')),
  digest: null,
}

function ecdsa(oid: string, digest: 'sha256' | 'sha384' | 'sha512'): SigningAlgorithm {
  return { identifier: der.sequence(der.objectIdentifier(oid)), digest }
}

/** By OpenSSL's name of the curve. */
const CURVES: Readonly<Record<string, SigningAlgorithm>> = {
  secp224r1: ecdsa('1.2.840.10045.4.3.2', 'sha256'),
  prime256v1: ecdsa('1.2.840.10045.4.3.2', 'sha256'),
  secp384r1: ecdsa('1.2.840.10045.4.3.3', 'sha384'),
  secp521r1: ecdsa('1.2.840.10045.4.3.4', 'sha512'),
}

function algorithmOf(key: KeyObject): SigningAlgorithm {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  const curve = details?.namedCurve ?? ''
  const found = type === 'rsa' ? RSA : type === 'ed25519' ? ED25519 : CURVES[curve]
  if (found === undefined)
    throw new Error(`a private key of type ${[type, curve].filter(Boolean).join(' ')} cannot sign`)
  return found
}

/** A named bit string: without the zeros at its end. */
function bitsOf(bits: readonly number[]): Buffer {
  const last = Math.max(...bits)
  const bytes = new Uint8Array((last >>> 3) + 1)
  for (const bit of bits) bytes[bit >>> 3]! |= 0x80 >>> (bit & 7)
  return der.bitString(bytes, 7 - (last & 7))
}

function keyIdentifierOf(certificate: X509Certificate): Uint8Array | undefined {
  const value = extensionOf(certificate, EXTENSION.subjectKeyIdentifier)
  return value && expectTag(onlyElement(value), TAG.octetString).content
}
