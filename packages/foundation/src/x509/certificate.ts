import { createPublicKey, generateKeyPairSync, hash, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import * as der from './der.ts'
import { EXTENDED_KEY_USAGE, EXTENSION } from './extension-identifiers.ts'

/** Both in PEM: the certificate (or chain) and its PKCS #8 private key. */
export interface CertificateAndKey {
  readonly certificatePem: string
  readonly privateKeyPem: string
}

export interface DistinguishedName {
  /** Empty: the name has none. */
  readonly commonName: string
  /** Kubernetes reads them as groups. */
  readonly organizations?: readonly string[]
}

export interface CertificateRequest {
  readonly subject: DistinguishedName
  readonly publicKey: KeyObject
  readonly usage: 'authority' | 'server' | 'client'
  readonly dnsNames?: readonly string[]
  /** IPv4 and IPv6 in their usual text forms. */
  readonly ipAddresses?: readonly string[]
  /** 16 bytes; the first bit is cleared. */
  readonly serialNumber: Uint8Array
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

export interface Issuer {
  readonly subject: DistinguishedName
  readonly privateKey: KeyObject
}

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const

/** digitalSignature, keyEncipherment, keyCertSign as bits of one byte, with the number of unused bits. */
const KEY_USAGE = {
  authority: { bits: 0b1010_0100, unused: 2 },
  server: { bits: 0b1010_0000, unused: 5 },
  client: { bits: 0b1010_0000, unused: 5 },
} as const

export function generateKeyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** An X.509 v3 certificate signed with ECDSA over SHA-256, in PEM. The issuer's key must be an EC P-256 key. */
export function issueCertificate(request: CertificateRequest, issuer: Issuer): string {
  const algorithm = der.sequence(der.objectIdentifier(OID.ecdsaWithSha256))
  const serial = Uint8Array.from(request.serialNumber)
  serial[0]! &= 0x7f
  const toBeSigned = der.sequence(
    der.explicit(0, der.integer(Uint8Array.of(2))),
    der.integer(serial),
    algorithm,
    name(issuer.subject),
    der.sequence(der.time(request.notBeforeMs), der.time(request.notAfterMs)),
    name(request.subject),
    publicKeyInfo(request.publicKey),
    der.explicit(3, der.sequence(...extensions(request, issuer))),
  )
  const signature = sign('sha256', toBeSigned, issuer.privateKey)
  return pem('CERTIFICATE', der.sequence(toBeSigned, algorithm, der.bitString(signature)))
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string
}

export function publicKeyPem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }) as string
}

export function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

function extensions(request: CertificateRequest, issuer: Issuer): Buffer[] {
  const usage = KEY_USAGE[request.usage]
  const isAuthority = request.usage === 'authority'
  const result = [
    extension(EXTENSION.keyUsage, true, der.bitString(Uint8Array.of(usage.bits), usage.unused)),
    extension(
      EXTENSION.basicConstraints,
      true,
      isAuthority ? der.sequence(der.boolean(true)) : der.sequence(),
    ),
    extension(
      EXTENSION.authorityKeyIdentifier,
      false,
      der.sequence(der.implicit(0, keyIdentifier(createPublicKey(issuer.privateKey)))),
    ),
  ]
  if (isAuthority)
    result.push(
      extension(
        EXTENSION.subjectKeyIdentifier,
        false,
        der.octetString(keyIdentifier(request.publicKey)),
      ),
    )
  else {
    const purpose =
      request.usage === 'server' ? EXTENDED_KEY_USAGE.server : EXTENDED_KEY_USAGE.client
    result.push(
      extension(EXTENSION.extendedKeyUsage, false, der.sequence(der.objectIdentifier(purpose))),
    )
  }
  const names = [
    ...(request.dnsNames ?? []).map((text) => der.implicit(2, Buffer.from(text, 'ascii'))),
    ...(request.ipAddresses ?? []).map((text) => der.implicit(7, ipAddressBytes(text))),
  ]
  if (names.length > 0)
    result.push(extension(EXTENSION.subjectAltName, false, der.sequence(...names)))
  return result
}

export function extension(oid: string, critical: boolean, value: Uint8Array): Buffer {
  const parts = [der.objectIdentifier(oid)]
  if (critical) parts.push(der.boolean(true))
  return der.sequence(...parts, der.octetString(value))
}

function name(subject: DistinguishedName): Buffer {
  const attributes = [
    ...(subject.organizations ?? []).map((text) => attribute(OID.organization, text)),
    ...(subject.commonName === '' ? [] : [attribute(OID.commonName, subject.commonName)]),
  ]
  return der.sequence(...attributes.map((entry) => der.set(entry)))
}

function attribute(oid: string, text: string): Buffer {
  return der.sequence(der.objectIdentifier(oid), der.utf8String(text))
}

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

/** SHA-1 of the public key bits (RFC 5280, 4.2.1.2, method 1): an identifier, not a protection. */
function keyIdentifier(key: KeyObject): Buffer {
  const jwk = key.export({ format: 'jwk' })
  const point = Buffer.concat([
    Uint8Array.of(4),
    Buffer.from(jwk.x!, 'base64url'),
    Buffer.from(jwk.y!, 'base64url'),
  ])
  return hash('sha1', point, 'buffer')
}

/** 4 or 16 bytes. */
export function ipAddressBytes(text: string): Uint8Array {
  if (!text.includes(':')) return Uint8Array.from(text.split('.').map(Number))
  const [head, tail] = text.split('::') as [string, string | undefined]
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const left = groups(head)
  const right = tail === undefined ? [] : groups(tail)
  const words = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
  return Uint8Array.from(words.flatMap((word) => [word >>> 8, word & 0xff]))
}
