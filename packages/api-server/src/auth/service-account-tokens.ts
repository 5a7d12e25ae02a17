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
import { LEEWAY_MS, claimedAudiences, legacyClaims, timeProblem } from './token-claims.ts'
import type { BoundClaims, ObjectClaim } from './token-claims.ts'

const DEFAULT_ISSUER = 'https://kubernetes.default.svc'
const LEGACY_ISSUER = 'kubernetes/serviceaccount'
/** Dates, `YYYY-MM-DD`: the day of the last use, and since when an unused token is refused. */
export const LAST_USED = 'kubernetes.io/legacy-token-last-used'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
/** Projected volumes ask for this; such tokens live a year and warn from then on, for clients that never reread the file. */
const PROJECTED_EXPIRATION_SECONDS = 3607
const EXTENDED_EXPIRATION_SECONDS = 365 * 24 * 3600
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

export interface RefusedToken {
  /** Why, as kube-apiserver words it. Empty: that is not told, as of tokens of others. */
  readonly refused: string
}

interface SigningKey {
  readonly id: string
  readonly publicKey: KeyObject
}

export class ServiceAccountTokens {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly #options: ServiceAccountTokensOptions
  readonly #issuers: readonly string[]
  readonly #keys: readonly SigningKey[]
  /** Tokens whose signature held. What the store says of their objects is asked every time. */
  readonly #verified = new Map<string, DecodedToken>()

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options
    this.#issuers = options.issuers ?? [DEFAULT_ISSUER]
    this.issuer = this.#issuers[0]!
    this.audiences = options.audiences ?? this.#issuers
    const { publicKey } = options.key
    const others = (options.otherPublicKeys ?? []).filter((key) => !key.equals(publicKey))
    this.#keys = [publicKey, ...others].map((key) => ({ id: keyIdOf(key), publicKey: key }))
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
    const token = signToken(claims, this.#options.key.privateKey, this.#keys[0]!.id)
    return { token, expirationMs: (nowSeconds + grant.expirationSeconds) * 1000 }
  }

  /** Audiences are judged before the time, and that before the objects. */
  judge(
    token: string,
    askedAudiences: readonly string[] = this.audiences,
  ): AuthenticatedToken | RefusedToken {
    const decoded = this.#verified.get(token) ?? this.#verify(token)
    if (typeof decoded === 'string') return { refused: decoded }
    const { claims } = decoded
    const claimed = claimedAudiences(claims, this.audiences)
    if (typeof claimed === 'string') return { refused: claimed }
    const audiences = askedAudiences.filter((audience) => claimed.includes(audience))
    if (audiences.length === 0) {
      const isFor = `token audiences ${quotedList(claimed)} is invalid`
      return { refused: `${isFor} for the target audiences ${quotedList(askedAudiences)}` }
    }
    const user =
      claims['iss'] === LEGACY_ISSUER ? this.#legacyUser(token, claims) : this.#boundUser(claims)
    return typeof user === 'string' ? { refused: user } : { user, audiences }
  }

  keySet(): object {
    return {
      keys: this.#keys.map(({ id, publicKey }) => ({
        use: 'sig',
        kid: id,
        alg: algorithmOf(publicKey),
        ...publicKey.export({ format: 'jwk' }),
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
      id_token_signing_alg_values_supported: [
        ...new Set(this.#keys.map(({ publicKey }) => algorithmOf(publicKey))),
      ],
    }
  }

  /** A text: why it is none of this server. */
  #verify(token: string): DecodedToken | string {
    const decoded = decodeToken(token)
    if (decoded === undefined) return ''
    const { iss } = decoded.claims
    if (iss !== LEGACY_ISSUER && !this.#issuers.includes(String(iss))) return ''
    const { kid = '' } = decoded.header
    if (typeof kid !== 'string') return ''
    const keys = kid === '' ? this.#keys : this.#keys.filter(({ id }) => id === kid)
    if (keys.length === 0) return 'invalid signature, no keys found'
    if (!keys.some(({ publicKey }) => isSignedBy(decoded, publicKey)))
      return 'go-jose/go-jose: error in cryptographic primitive'
    if (this.#verified.size >= VERIFIED_TOKENS_KEPT)
      this.#verified.delete(this.#verified.keys().next().value!)
    this.#verified.set(token, decoded)
    return decoded
  }

  /** A text: why there is none, as in `#legacyUser`. */
  #boundUser(claims: DecodedToken['claims']): UserInfo | string {
    const late = timeProblem(claims, this.#options.clock.nowMs())
    if (late !== undefined) return late
    const bound = (claims['kubernetes.io'] ?? {}) as BoundClaims
    const { namespace = '', serviceaccount: { name = '', uid = '' } = {}, pod, node } = bound
    // Upstream asks for the account by an address that is none.
    if (name === '') return 'resource name may not be empty'
    if (namespace === '') return 'the server could not find the requested resource'
    const account = this.#get('serviceaccounts', `${namespace}/${name}`)
    if (account === undefined) return `serviceaccounts ${goQuote(name)} not found`
    if (this.#isGone(account)) return `service account ${namespace}/${name} has been deleted`
    const { uid: storedUid } = account['metadata']
    if (storedUid !== uid) return `service account UID (${storedUid}) does not match claim (${uid})`
    const problem =
      this.#boundProblem('secret', bound.secret, namespace) ??
      this.#boundProblem('pod', pod, namespace) ??
      this.#boundProblem('node', pod === undefined ? node : undefined)
    if (problem !== undefined) return problem
    const extra: Record<string, string[]> = {}
    if (typeof claims['jti'] === 'string') extra[CREDENTIAL_ID] = [`JTI=${claims['jti']}`]
    if (node !== undefined) extra[NODE_NAME] = [node.name]
    if (node?.uid !== undefined) extra['authentication.kubernetes.io/node-uid'] = [node.uid]
    if (pod !== undefined) {
      extra['authentication.kubernetes.io/pod-name'] = [pod.name]
      extra['authentication.kubernetes.io/pod-uid'] = [pod.uid ?? '']
    }
    return serviceAccountUser(namespace, name, uid, extra)
  }

  #boundProblem(
    what: 'secret' | 'pod' | 'node',
    claim: ObjectClaim | undefined,
    namespace?: string,
  ): string | undefined {
    if (claim === undefined) return undefined
    const { name, uid = '' } = claim
    const object = this.#get(`${what}s`, namespace === undefined ? name : `${namespace}/${name}`)
    if (object === undefined || this.#isGone(object))
      return 'service account token has been invalidated'
    const { uid: storedUid } = object['metadata']
    if (storedUid === uid) return undefined
    return `${what} UID (${storedUid}) does not match service account ${what} ref claim (${uid})`
  }

  /** Tokens in secrets never end, and hold as long as the secret carries them. */
  #legacyUser(token: string, claims: DecodedToken['claims']): UserInfo | string {
    const claimed = legacyClaims(claims)
    if (typeof claimed === 'string') return claimed
    const { namespace, secretName, name, uid } = claimed
    const secret = this.#get('secrets', `${namespace}/${secretName}`)
    if (secret === undefined || secret['metadata'].deletionTimestamp !== undefined)
      return 'Token has been invalidated'
    if (Buffer.from(secret['data']?.token ?? '', 'base64').toString() !== token)
      return "Token does not match server's copy"
    const account = this.#get('serviceaccounts', `${namespace}/${name}`)
    if (account === undefined) return `serviceaccounts ${goQuote(name)} not found`
    const { uid: storedUid, deletionTimestamp } = account['metadata']
    if (deletionTimestamp !== undefined)
      return `ServiceAccount ${namespace}/${name} has been deleted`
    if (storedUid !== uid) return `ServiceAccount UID (${storedUid}) does not match claim (${uid})`
    this.#trackUse(secret)
    if (secret['metadata'].labels?.[INVALID_SINCE])
      return `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`
    return serviceAccountUser(namespace, name, uid, {})
  }

  /** A day is fine enough for the one who asks, and keeps writes rare. */
  #trackUse(secret: Stored): void {
    const date = formatTime(this.#options.clock.nowMs()).slice(0, 10)
    if (secret['metadata'].labels?.[LAST_USED] !== date)
      this.#options.onFirstUseOfDay?.(secret, date)
  }

  #get(collection: string, key: string): Stored | undefined {
    return this.#options.store.get({ collection, key })?.object
  }

  /** Objects that go away keep their tokens alive for a while, so that a pod can still say goodbye. */
  #isGone({ metadata: { deletionTimestamp } }: Stored): boolean {
    return (
      deletionTimestamp !== undefined &&
      Date.parse(deletionTimestamp) + LEEWAY_MS < this.#options.clock.nowMs()
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
