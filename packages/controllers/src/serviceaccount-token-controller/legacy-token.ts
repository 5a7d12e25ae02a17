/**
 * Tokens that never end, for the server itself: what a Secret carries.
 * Contract: docs/behaviour/controllers/serviceaccount-token-controller.md, Sync; RFC 7515, RFC 7518.
 */
import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Secret, ServiceAccount } from '@gyropilot/api'

const ISSUER = 'kubernetes/serviceaccount'
const CLAIM = 'kubernetes.io/serviceaccount/'

interface Algorithm {
  readonly name: 'RS256' | 'ES256' | 'ES384' | 'ES512'
  readonly digest: 'sha256' | 'sha384' | 'sha512'
}

/** By OpenSSL's name of the curve: P-256, P-384, P-521. */
const CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'ES256', digest: 'sha256' },
  secp384r1: { name: 'ES384', digest: 'sha384' },
  secp521r1: { name: 'ES512', digest: 'sha512' },
}

export type TokenSigner = (account: ServiceAccount, secret: Secret) => string

/** Throws when the PEM text holds no RSA key and no ECDSA key on P-256, P-384 or P-521. */
export function tokenSigner(privateKeyPem: string): TokenSigner {
  const key = createPrivateKey(privateKeyPem)
  const algorithm = algorithmOf(key)
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const kid = hash('sha256', publicKey, 'buffer').toString('base64url')
  const header = encode({ alg: algorithm.name, kid })
  return (account, secret) => {
    const text = `${header}.${encode(claimsOf(account, secret))}`
    const signature = sign(algorithm.digest, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }
}

/** No audience, no time: verifiers take a token that has any for one of the newer kind. */
function claimsOf(account: ServiceAccount, secret: Secret): object {
  const { namespace, name, uid } = account.metadata ?? {}
  return {
    iss: ISSUER,
    [`${CLAIM}namespace`]: namespace,
    [`${CLAIM}secret.name`]: secret.metadata?.name,
    [`${CLAIM}service-account.name`]: name,
    [`${CLAIM}service-account.uid`]: uid,
    sub: `system:serviceaccount:${namespace}:${name}`,
  }
}

function algorithmOf(key: KeyObject): Algorithm {
  if (key.asymmetricKeyType === 'rsa') return { name: 'RS256', digest: 'sha256' }
  const curve = key.asymmetricKeyDetails?.namedCurve ?? ''
  const algorithm = key.asymmetricKeyType === 'ec' ? CURVES[curve] : undefined
  if (algorithm === undefined)
    throw new Error(
      `unknown private key type ${[key.asymmetricKeyType, curve].filter(Boolean).join(' ')}, must be RSA or ECDSA on P-256, P-384 or P-521`,
    )
  return algorithm
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
