/** Compact JWS (RFC 7515) with the two algorithms of service account keys: ES256 and RS256. Synchronous, as the store is. */
import { hash, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

export interface DecodedToken {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  readonly signedText: string
  readonly signature: Uint8Array
}

export function algorithmOf(key: KeyObject): 'ES256' | 'RS256' {
  return key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256'
}

/** Key id as kube-apiserver makes it: the SHA-256 of the public key's DER, base64url. */
export function keyIdOf(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'buffer').toString(
    'base64url',
  )
}

export function signToken(claims: object, privateKey: KeyObject, keyId: string): string {
  const header = { alg: algorithmOf(privateKey), kid: keyId }
  const signedText = `${encode(header)}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(signedText), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  })
  return `${signedText}.${signature.toString('base64url')}`
}

/** Undefined when the text is no JWS with JSON claims. Checks no signature. White space is passed over, as upstream does it. */
export function decodeToken(token: string): DecodedToken | undefined {
  const parts = token.replaceAll(/\s/g, '').split('.')
  if (parts.length !== 3) return undefined
  const [header, claims, signature] = parts.map(bytesOf)
  if (header === undefined || claims === undefined || signature === undefined) return undefined
  const decodedHeader = objectOf(header)
  const decodedClaims = objectOf(claims)
  if (decodedHeader === undefined || decodedClaims === undefined) return undefined
  return {
    header: decodedHeader,
    claims: decodedClaims,
    signedText: `${parts[0]}.${parts[1]}`,
    signature,
  }
}

export function isSignedBy(token: DecodedToken, publicKey: KeyObject): boolean {
  const { alg, crit } = token.header
  // Extensions that have to be understood are not.
  if (alg !== algorithmOf(publicKey) || crit !== undefined) return false
  return verify(
    'sha256',
    Buffer.from(token.signedText),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    token.signature,
  )
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Of base64url without padding. Node's decoder takes anything and passes over what is none; bits behind the last byte count nowhere. */
function bytesOf(text: string): Buffer | undefined {
  const isEncoded = /^[\w-]*$/.test(text) && text.length % 4 !== 1
  return isEncoded ? Buffer.from(text, 'base64url') : undefined
}

function objectOf(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
