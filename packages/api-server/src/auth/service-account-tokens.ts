/**
 * Issues and judges service account tokens: bound ones (KEP-1205) and those of kubernetes.io/service-account-token secrets.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "Token requests" and "Authentication".
 */
import type { KeyObject } from 'node:crypto'
import { formatTime, uuid } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { UserInfo } from '../contracts.ts'
import { goQuote } from '@gyropilot/schema/go-quote'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store } from '../storage/store.ts'
import {
  CREDENTIAL_ID,
  NODE_NAME,
  serviceAccountGroups,
  serviceAccountUserName,
} from './identity.ts'
import { algorithmOf, decodeToken, isSignedBy, keyIdOf, signToken } from './json-web-token.ts'
import type { DecodedToken } from './json-web-token.ts'

const DEFAULT_ISSUER = 'https://kubernetes.default.svc'
const LEGACY_ISSUER = 'kubernetes/serviceaccount'
/** Dates, `YYYY-MM-DD`: the day of the last use, and since when an unused token is refused. */
export const LAST_USED = 'kubernetes.io/legacy-token-last-used'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
/** Projected volumes ask for this; such tokens live a year and warn from then on, for clients that never reread the file. */
const PROJECTED_EXPIRATION_SECONDS = 3607
const EXTENDED_EXPIRATION_SECONDS = 365 * 24 * 3600
/** Objects that go away keep their tokens alive this long, so that a pod can still say goodbye. */
const DELETED_LEEWAY_MS = 60_000
const VERIFIED_TOKENS_KEPT = 4096

interface ServiceAccountTokensOptions {
  readonly clock: Clock
  readonly random: RandomSource
  readonly store: Store
  readonly key: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  /** Judge tokens too, and stand in the key set: those of earlier or other signers. */
  readonly otherPublicKeys?: readonly KeyObject[]
  /** The first signs, all are accepted. Default `https://kubernetes.default.svc`. */
  readonly issuers?: readonly string[]
  /** Audiences that the server itself answers to. Default: the issuers. */
  readonly audiences?: readonly string[]
  /** Told when the token of a Secret was shown for the first time on a day (`YYYY-MM-DD`, UTC), also when it was refused. */
  readonly onFirstUseOfDay?: (secret: Stored, date: string) => void
}

interface TokenGrant {
  readonly serviceAccount: Stored
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly pod?: Stored
  readonly secret?: Stored
  /** The bound node, or the node of the bound pod (its object may be missing). */
  readonly node?: { readonly name: string; readonly uid?: string }
}

export interface AuthenticatedToken {
  readonly user: UserInfo
  /** Those of the asked audiences that the token is for. */
  readonly audiences: readonly string[]
}

interface BoundClaims {
  readonly namespace?: string
  readonly serviceaccount?: { readonly name?: string; readonly uid?: string }
  readonly pod?: { readonly name: string; readonly uid: string }
  readonly secret?: { readonly name: string; readonly uid: string }
  readonly node?: { readonly name: string; readonly uid?: string }
}

export class ServiceAccountTokens {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly #options: ServiceAccountTokensOptions
  readonly #issuers: readonly string[]
  readonly #publicKeys: readonly KeyObject[]
  readonly #keyId: string
  /** Tokens whose signature held. What the store says of their objects is asked every time. */
  readonly #verified = new Map<string, DecodedToken>()

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options
    this.#issuers = options.issuers ?? [DEFAULT_ISSUER]
    this.issuer = this.#issuers[0]!
    this.audiences = options.audiences ?? this.#issuers
    const { publicKey } = options.key
    const others = (options.otherPublicKeys ?? []).filter((key) => !key.equals(publicKey))
    this.#publicKeys = [publicKey, ...others]
    this.#keyId = keyIdOf(publicKey)
  }

  issue(grant: TokenGrant): { token: string; expirationMs: number } {
    const nowSeconds = Math.floor(this.#options.clock.nowMs() / 1000)
    const isExtended =
      grant.pod !== undefined &&
      grant.expirationSeconds === PROJECTED_EXPIRATION_SECONDS &&
      grant.audiences.every((audience) => this.audiences.includes(audience))
    const lifetimeSeconds = isExtended ? EXTENDED_EXPIRATION_SECONDS : grant.expirationSeconds
    const { metadata } = grant.serviceAccount
    const claims = {
      aud: grant.audiences,
      exp: nowSeconds + lifetimeSeconds,
      iat: nowSeconds,
      iss: this.issuer,
      jti: uuid(this.#options.random),
      'kubernetes.io': {
        namespace: metadata.namespace,
        ...(grant.node === undefined ? {} : { node: grant.node }),
        ...(grant.pod === undefined ? {} : { pod: reference(grant.pod) }),
        ...(grant.secret === undefined ? {} : { secret: reference(grant.secret) }),
        serviceaccount: reference(grant.serviceAccount),
        ...(isExtended ? { warnafter: nowSeconds + grant.expirationSeconds } : {}),
      },
      nbf: nowSeconds,
      sub: serviceAccountUserName(metadata.namespace, metadata.name),
    }
    const token = signToken(claims, this.#options.key.privateKey, this.#keyId)
    return { token, expirationMs: (nowSeconds + grant.expirationSeconds) * 1000 }
  }

  /** Undefined: not a token of this server, or one that no longer holds. */
  authenticate(
    token: string,
    askedAudiences: readonly string[] = this.audiences,
  ): AuthenticatedToken | undefined {
    const decoded = this.#verified.get(token) ?? this.#verify(token)
    if (decoded === undefined) return undefined
    if (decoded.claims['iss'] === LEGACY_ISSUER)
      return this.#authenticateLegacy(token, decoded.claims, askedAudiences)
    return this.#authenticateBound(decoded.claims, askedAudiences)
  }

  /** What is wrong with a token of this server's issuer, as kube-apiserver words it; undefined: it is told nothing of. */
  problemOf(token: string, askedAudiences: readonly string[] = this.audiences): string | undefined {
    const decoded = decodeToken(token)
    if (decoded === undefined || !this.#issuers.includes(String(decoded.claims['iss'])))
      return undefined
    if (!this.#publicKeys.some((key) => isSignedBy(decoded, key)))
      return 'go-jose/go-jose: error in cryptographic primitive'
    const { exp, aud } = decoded.claims
    const tokenAudiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
    if (typeof exp !== 'number' || this.#options.clock.nowMs() / 1000 >= exp) return undefined
    if (askedAudiences.some((audience) => tokenAudiences.includes(audience))) return undefined
    return `token audiences ${quotedList(tokenAudiences)} is invalid for the target audiences ${quotedList(askedAudiences)}`
  }

  keySet(): object {
    return {
      keys: this.#publicKeys.map((key) => ({
        use: 'sig',
        kid: keyIdOf(key),
        alg: algorithmOf(key),
        ...key.export({ format: 'jwk' }),
      })),
    }
  }

  /** `serverUrl` is where clients reach this server: the key set's address. */
  openidConfiguration(serverUrl: string): object {
    return {
      issuer: this.issuer,
      jwks_uri: `${serverUrl}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(this.#publicKeys.map(algorithmOf))],
    }
  }

  #verify(token: string): DecodedToken | undefined {
    const decoded = decodeToken(token)
    if (decoded === undefined) return undefined
    const { iss } = decoded.claims
    if (iss !== LEGACY_ISSUER && !this.#issuers.includes(String(iss))) return undefined
    if (!this.#publicKeys.some((key) => isSignedBy(decoded, key))) return undefined
    if (this.#verified.size >= VERIFIED_TOKENS_KEPT)
      this.#verified.delete(this.#verified.keys().next().value!)
    this.#verified.set(token, decoded)
    return decoded
  }

  #authenticateBound(
    claims: DecodedToken['claims'],
    askedAudiences: readonly string[],
  ): AuthenticatedToken | undefined {
    const nowSeconds = this.#options.clock.nowMs() / 1000
    const { exp, nbf, aud, jti, sub } = claims
    if (typeof exp !== 'number' || nowSeconds >= exp) return undefined
    if (typeof nbf === 'number' && nowSeconds < nbf) return undefined
    const tokenAudiences = Array.isArray(aud) ? aud : [aud]
    const audiences = askedAudiences.filter((audience) => tokenAudiences.includes(audience))
    if (audiences.length === 0) return undefined
    const bound = claims['kubernetes.io'] as BoundClaims | undefined
    const { namespace, serviceaccount } = bound ?? {}
    if (bound === undefined || namespace === undefined || serviceaccount?.name === undefined)
      return undefined
    if (sub !== serviceAccountUserName(namespace, serviceaccount.name)) return undefined
    const { pod, secret, node } = bound
    if (
      !this.#isAlive('serviceaccounts', `${namespace}/${serviceaccount.name}`, serviceaccount.uid)
    )
      return undefined
    if (pod !== undefined && !this.#isAlive('pods', `${namespace}/${pod.name}`, pod.uid))
      return undefined
    if (
      secret !== undefined &&
      !this.#isAlive('secrets', `${namespace}/${secret.name}`, secret.uid)
    )
      return undefined
    if (pod === undefined && node !== undefined && !this.#isAlive('nodes', node.name, node.uid))
      return undefined
    const extra: Record<string, string[]> = {}
    if (typeof jti === 'string') extra[CREDENTIAL_ID] = [`JTI=${jti}`]
    if (node !== undefined) extra[NODE_NAME] = [node.name]
    if (node?.uid !== undefined) extra['authentication.kubernetes.io/node-uid'] = [node.uid]
    if (pod !== undefined) {
      extra['authentication.kubernetes.io/pod-name'] = [pod.name]
      extra['authentication.kubernetes.io/pod-uid'] = [pod.uid]
    }
    return {
      user: serviceAccountUser(namespace, serviceaccount.name, serviceaccount.uid, extra),
      audiences,
    }
  }

  /** Tokens in secrets are for the server itself, never end, and hold as long as the secret carries them. */
  #authenticateLegacy(
    token: string,
    claims: DecodedToken['claims'],
    askedAudiences: readonly string[],
  ): AuthenticatedToken | undefined {
    const audiences = askedAudiences.filter((audience) => this.audiences.includes(audience))
    if (audiences.length === 0) return undefined
    const namespace = String(claims['kubernetes.io/serviceaccount/namespace'] ?? '')
    const secretName = String(claims['kubernetes.io/serviceaccount/secret.name'] ?? '')
    const name = String(claims['kubernetes.io/serviceaccount/service-account.name'] ?? '')
    const uid = String(claims['kubernetes.io/serviceaccount/service-account.uid'] ?? '')
    if (claims['sub'] !== serviceAccountUserName(namespace, name)) return undefined
    if (!this.#isAlive('serviceaccounts', `${namespace}/${name}`, uid)) return undefined
    const secret = this.#options.store.get({
      collection: 'secrets',
      key: `${namespace}/${secretName}`,
    })?.object
    if (secret === undefined || secret['metadata'].deletionTimestamp !== undefined) return undefined
    if (Buffer.from(secret['data']?.token ?? '', 'base64').toString() !== token) return undefined
    this.#trackUse(secret)
    // A token that a user asked for is the user's to judge; one that came by itself may have been given up.
    const { [INVALID_SINCE]: invalidSince } = secret['metadata'].labels ?? {}
    if (invalidSince && this.#isAutoGenerated(secret, `${namespace}/${name}`)) return undefined
    return { user: serviceAccountUser(namespace, name, uid, {}), audiences }
  }

  /** A day is fine enough for the one who asks, and keeps writes rare. */
  #trackUse(secret: Stored): void {
    const date = formatTime(this.#options.clock.nowMs()).slice(0, 10)
    if (secret['metadata'].labels?.[LAST_USED] !== date)
      this.#options.onFirstUseOfDay?.(secret, date)
  }

  #isAutoGenerated(secret: Stored, accountKey: string): boolean {
    const account = this.#options.store.get({ collection: 'serviceaccounts', key: accountKey })
    const listed: readonly { name?: string }[] = account?.object['secrets'] ?? []
    return listed.some(({ name }) => name === secret['metadata'].name)
  }

  #isAlive(collection: string, key: string, uid: string | undefined): boolean {
    const object = this.#options.store.get({ collection, key })?.object
    if (object === undefined || (uid !== undefined && object['metadata'].uid !== uid)) return false
    const { deletionTimestamp } = object['metadata']
    return (
      deletionTimestamp === undefined ||
      Date.parse(deletionTimestamp) + DELETED_LEEWAY_MS >= this.#options.clock.nowMs()
    )
  }
}

function reference(object: Stored): { name: string; uid: string } {
  return { name: object['metadata'].name, uid: object['metadata'].uid }
}

function serviceAccountUser(
  namespace: string,
  name: string,
  uid: string | undefined,
  extra: Readonly<Record<string, readonly string[]>>,
): UserInfo {
  return {
    name: serviceAccountUserName(namespace, name),
    ...(uid === undefined ? {} : { uid }),
    groups: serviceAccountGroups(namespace),
    extra,
  }
}

/** As Go's `%q` prints a list. */
function quotedList(texts: readonly unknown[]): string {
  return `[${texts.map((text) => goQuote(String(text))).join(' ')}]`
}
