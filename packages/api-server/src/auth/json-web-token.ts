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

/** Undefined when the text is no JWS with JSON claims. Checks no signature. */
export function decodeToken(token: string): DecodedToken | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  const header = decodeObject(parts[0]!)
  const claims = decodeObject(parts[1]!)
  if (header === undefined || claims === undefined) return undefined
  return {
    header,
    claims,
    signedText: `${parts[0]}.${parts[1]}`,
    signature: Buffer.from(parts[2]!, 'base64url'),
  }
}

export function isSignedBy(token: DecodedToken, publicKey: KeyObject): boolean {
  if (token.header['alg'] !== algorithmOf(publicKey)) return false
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

function decodeObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
