/** PKCS #10 requests (RFC 2986): read, and checked to be signed with the key that they are about. */
import { constants, createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { alternativeNamesOf } from './alternative-names.ts'
import type { AlternativeNames } from './alternative-names.ts'
import { DerError, TAG, bitStringBytes, childrenOf, elementsOf } from './der-reader.ts'
import { expectTag, objectIdentifierOf, onlyElement } from './der-reader.ts'
import type { DerElement } from './der-reader.ts'
import { EXTENSION } from './extension-identifiers.ts'
import { readSubject } from './subject.ts'
import type { Subject } from './subject.ts'

export interface SigningRequest extends AlternativeNames {
  readonly subject: Subject
  /** SubjectPublicKeyInfo. */
  readonly publicKeyDer: Uint8Array
  /** Undefined: the signature is good; else what is wrong with it, in Go's words. */
  signatureProblem(): string | undefined
}

const PEM_BLOCK =
  /-----BEGIN ([A-Z0-9 ]+)-----\r?\n(?:[!-9;-~]+:[^\n]*\n)*([A-Za-z0-9+/=\s]*)-----END \1-----/
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'
const CURVES: ReadonlySet<string> = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1'])

/** The first block of a PEM text. Throws an Error in Go's words, or DerError. */
export function parseSigningRequest(pem: string): SigningRequest {
  const [, label, base64] = PEM_BLOCK.exec(pem) ?? []
  if (label !== 'CERTIFICATE REQUEST' || base64 === undefined)
    throw new Error('PEM block type must be CERTIFICATE REQUEST')
  const [info, algorithm, signature, ...more] = childrenOf(
    onlyElement(Buffer.from(base64, 'base64')),
    TAG.sequence,
  )
  if (more.length > 0) throw new DerError('trailing data')
  const [version, name, publicKey, attributes] = childrenOf(info, TAG.sequence)
  expectTag(version, TAG.integer)
  const publicKeyDer = expectTag(publicKey, TAG.sequence).raw
  const key = readPublicKey(publicKeyDer)
  const scheme = schemeOf(algorithm)
  const signatureBytes = bitStringBytes(signature)
  const signed = info!.raw
  return {
    subject: readSubject(name),
    publicKeyDer,
    ...alternativeNames(attributes),
    signatureProblem: () => signatureProblem(scheme, key, signed, signatureBytes),
  }
}

function readPublicKey(publicKeyDer: Uint8Array): KeyObject {
  let key: KeyObject
  try {
    key = createPublicKey({ key: Buffer.from(publicKeyDer), format: 'der', type: 'spki' })
  } catch (cause) {
    throw new Error('x509: invalid public key', { cause })
  }
  if (key.asymmetricKeyType === 'ec' && !CURVES.has(key.asymmetricKeyDetails?.namedCurve ?? ''))
    throw new Error('x509: unsupported elliptic curve')
  return key
}

function alternativeNames(attributes: DerElement | undefined): AlternativeNames {
  return alternativeNamesOf(
    requestedExtensions(attributes).flatMap((value) => {
      const parts = childrenOf(value, TAG.sequence)
      if (objectIdentifierOf(parts[0]) !== EXTENSION.subjectAltName) return []
      return [expectTag(parts.at(-1), TAG.octetString).content]
    }),
  )
}

function requestedExtensions(attributes: DerElement | undefined): DerElement[] {
  if (attributes === undefined) return []
  return childrenOf(attributes, 0xa0).flatMap((attribute) => {
    const [type, values] = childrenOf(attribute, TAG.sequence)
    if (objectIdentifierOf(type) !== EXTENSION_REQUEST) return []
    const [extensions] = childrenOf(values, TAG.set)
    return childrenOf(extensions, TAG.sequence)
  })
}

interface Scheme {
  readonly keyType: 'rsa' | 'ec' | 'ed25519'
  /** Null: the scheme has its own. */
  readonly digest: string | null
  /** PSS: bytes of salt. */
  readonly saltLength?: number
}

const SCHEMES: Readonly<Record<string, Scheme>> = {
  '1.2.840.113549.1.1.5': { keyType: 'rsa', digest: 'sha1' },
  '1.2.840.113549.1.1.11': { keyType: 'rsa', digest: 'sha256' },
  '1.2.840.113549.1.1.12': { keyType: 'rsa', digest: 'sha384' },
  '1.2.840.113549.1.1.13': { keyType: 'rsa', digest: 'sha512' },
  '1.2.840.10045.4.1': { keyType: 'ec', digest: 'sha1' },
  '1.2.840.10045.4.3.2': { keyType: 'ec', digest: 'sha256' },
  '1.2.840.10045.4.3.3': { keyType: 'ec', digest: 'sha384' },
  '1.2.840.10045.4.3.4': { keyType: 'ec', digest: 'sha512' },
  '1.3.101.112': { keyType: 'ed25519', digest: null },
}

const RSA_PSS = '1.2.840.113549.1.1.10'
const MASK_BY_DIGEST = '1.2.840.113549.1.1.8'
const PSS_DIGESTS: Readonly<Record<string, Scheme>> = {
  '2.16.840.1.101.3.4.2.1': { keyType: 'rsa', digest: 'sha256', saltLength: 32 },
  '2.16.840.1.101.3.4.2.2': { keyType: 'rsa', digest: 'sha384', saltLength: 48 },
  '2.16.840.1.101.3.4.2.3': { keyType: 'rsa', digest: 'sha512', saltLength: 64 },
}

function schemeOf(algorithm: DerElement | undefined): Scheme | undefined {
  const [type, parameters] = childrenOf(algorithm, TAG.sequence)
  const oid = objectIdentifierOf(type)
  return oid === RSA_PSS ? pssScheme(parameters) : SCHEMES[oid]
}

/** Only with one digest for both, and a salt as long as it. */
function pssScheme(parameters: DerElement | undefined): Scheme | undefined {
  const [digest, mask, salt] = childrenOf(parameters, TAG.sequence)
  if (digest?.tag !== 0xa0 || mask?.tag !== 0xa1 || salt?.tag !== 0xa2) return undefined
  const [digestType] = childrenOf(onlyElement(digest.content), TAG.sequence)
  const [maskType, maskDigest] = childrenOf(onlyElement(mask.content), TAG.sequence)
  const oid = objectIdentifierOf(digestType)
  const scheme = PSS_DIGESTS[oid]
  const [maskDigestType] = childrenOf(maskDigest, TAG.sequence)
  const [saltLength, ...more] = elementsOf(salt.content)
  const agrees =
    objectIdentifierOf(maskType) === MASK_BY_DIGEST &&
    objectIdentifierOf(maskDigestType) === oid &&
    more.length === 0 &&
    expectTag(saltLength, TAG.integer).content.length === 1 &&
    saltLength!.content[0] === scheme?.saltLength
  return agrees ? scheme : undefined
}

/** As Go names the algorithm and the type of the key. */
const GO_NAMES: Readonly<Record<string, { readonly kind: string; readonly type: string }>> = {
  rsa: { kind: 'an RSA', type: '*rsa.PublicKey' },
  ec: { kind: 'an ECDSA', type: '*ecdsa.PublicKey' },
  ed25519: { kind: 'an Ed25519', type: 'ed25519.PublicKey' },
}
const MISMATCH: Readonly<Record<Scheme['keyType'], string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
}

function signatureProblem(
  scheme: Scheme | undefined,
  key: KeyObject,
  signed: Uint8Array,
  signature: Uint8Array,
): string | undefined {
  const actual = GO_NAMES[key.asymmetricKeyType ?? '']
  if (scheme === undefined || actual === undefined)
    return 'x509: cannot verify signature: algorithm unimplemented'
  const { keyType, digest, saltLength } = scheme
  if (key.asymmetricKeyType !== keyType)
    return `x509: signature algorithm specifies ${GO_NAMES[keyType]!.kind} public key, but have public key of type ${actual.type}`
  const padding =
    saltLength === undefined ? {} : { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
  return verify(digest, signed, { key, ...padding }, signature) ? undefined : MISMATCH[keyType]
}
