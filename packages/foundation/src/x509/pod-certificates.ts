/** Certificates of pods: the key that is asked for, the proof that the asker has it, and the chain that is given. */
import { X509Certificate, constants, createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { alternativeNamesOf } from './alternative-names.ts'
import type { AlternativeNames } from './alternative-names.ts'
import { extensionOf } from './certificate-parts.ts'
import { pem } from './certificate.ts'
import { parseSigningRequest } from './certificate-request.ts'
import { EXTENSION } from './extension-identifiers.ts'
import { pemBlocks } from './pem-blocks.ts'

/** The key of a PKCS #10 request in DER that says nothing else. A text: what is wrong, in the words of Go's server. */
export function keyOfStubRequest(request: Uint8Array): KeyObject | string {
  try {
    const { publicKeyDer, signatureProblem } = parseSigningRequest(
      pem('CERTIFICATE REQUEST', request),
    )
    return signatureProblem() === undefined
      ? createPublicKey({ key: Buffer.from(publicKeyDer), format: 'der', type: 'spki' })
      : 'invalid signature'
  } catch {
    return 'must be a valid PKCS#10 CSR'
  }
}

/** Of a SubjectPublicKeyInfo in DER; undefined: it is none. */
export function publicKeyOf(info: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(info), format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

interface KeyProblem {
  /** In the place of the key. */
  readonly shown: string
  readonly problem: string
}

const MODULUS_BITS = [3072, 4096]
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']

/** Keys that are too short or of a kind that pods do not have. `curves`: those that messages name. */
export function podKeyProblem(key: KeyObject, curves: string): KeyProblem | undefined {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return undefined
    case 'rsa':
      if (MODULUS_BITS.includes(modulusLength)) return undefined
      return {
        shown: `${modulusLength}-bit modulus`,
        problem: 'RSA keys must have modulus size 3072 or 4096',
      }
    case 'ec':
      if (CURVES.includes(namedCurve)) return undefined
      return {
        shown: `curve ${namedCurve.replace(/^secp(\d+)r1$/, 'P-$1')}`,
        problem: `elliptic public keys must use curve ${curves}`,
      }
    default:
      return {
        shown: 'unknown public key type',
        problem: 'unknown public key type; supported types are Ed25519, ECDSA, and RSA',
      }
  }
}

/** Whether a text was signed with the private key. */
export function isProvenBy(key: KeyObject, text: string, signature: Uint8Array): boolean {
  const signed = Buffer.from(text)
  if (key.asymmetricKeyType === 'ed25519') return verify(null, signed, key, signature)
  if (key.asymmetricKeyType === 'ec') return verify('sha256', signed, key, signature)
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const saltLength = constants.RSA_PSS_SALTLEN_AUTO
  return verify('sha256', signed, { key, padding, saltLength }, signature)
}

/** The first certificate of a chain. */
export interface ChainLeaf {
  readonly certificate: X509Certificate
  readonly names: AlternativeNames
  isFor(key: KeyObject | undefined): boolean
  /** Of what is behind the first one. */
  restProblem(): string | undefined
}

/** A text: what is wrong, in the words of Go's server. */
export function leafOfChain(chain: string): ChainLeaf | string {
  const [first, ...rest] = pemBlocks(chain)
  if (first === undefined) return 'issued certificate chain must contain at least one certificate'
  if (first.type !== 'CERTIFICATE')
    return 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks'
  const certificate = certificateOf(first.pem)
  const names = certificate && namesOf(certificate)
  if (certificate === undefined || names === undefined)
    return 'leaf certificate does not parse as valid X.509'
  return {
    certificate,
    names,
    isFor: (key) => key !== undefined && certificate.publicKey.equals(key),
    restProblem: () => restProblem(rest),
  }
}

function restProblem(blocks: ReturnType<typeof pemBlocks>): string | undefined {
  for (const { type, pem: block } of blocks) {
    if (type !== 'CERTIFICATE')
      return 'issued certificate chain must consist entirely of CERTFICATE PEM blocks'
    if (certificateOf(block) === undefined)
      return 'intermediate certificate does not parse as valid X.509'
  }
  return undefined
}

/** Undefined: Go does not read them. */
function namesOf(certificate: X509Certificate): AlternativeNames | undefined {
  try {
    const value = extensionOf(certificate, EXTENSION.subjectAltName)
    return alternativeNamesOf(value === undefined ? [] : [value])
  } catch {
    return undefined
  }
}

const HEADERS = /^(-----BEGIN[^\n]*\n)(?:[^\n:]+:[^\n]*\n)+\n?/

/** Headers are passed over. */
function certificateOf(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block.replace(HEADERS, '$1'))
  } catch {
    return undefined
  }
}
