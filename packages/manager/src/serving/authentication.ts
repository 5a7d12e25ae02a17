/**
 * Who asks: a front proxy says it, a client certificate, or a bearer token that the cluster knows; in this order. Contract:
 * docs/behaviour/runtime/manager.md, Serving.
 */
import type { X509Certificate } from 'node:crypto'
import type { Client } from '@gyropilot/client'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { errorText } from '@gyropilot/foundation'
import { EXTENDED_KEY_USAGE, findChain } from '@gyropilot/foundation/x509'
import type { AuthMetrics } from './auth-metrics.ts'
import { ExpiringCache } from './expiring-cache.ts'
import { commonNameOf, userOf } from './client-certificates.ts'
import type { IncomingRequest, User } from './request.ts'
import { review } from './review.ts'

const UNAUTHENTICATED = 'system:unauthenticated'
/** Who says nothing of themselves. */
export const ANONYMOUS: User = { name: 'system:anonymous', groups: [UNAUTHENTICATED] }
const AUTHENTICATED = 'system:authenticated'

/** What is believed of certificates; may change while the manager runs. */
export interface AuthenticationSettings {
  /** Vouch for client certificates. */
  readonly clientAuthorities: readonly X509Certificate[]
  readonly frontProxy?: FrontProxySettings
}

export interface FrontProxySettings {
  readonly authorities: readonly X509Certificate[]
  /** Common names of proxies; empty: any that the authorities vouch for. */
  readonly allowedNames: readonly string[]
  /** Header names in lower case. */
  readonly usernameHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

interface AuthenticationOptions {
  readonly clock: Clock
  readonly random: RandomSource
  /** Asked at each request. */
  settings(): AuthenticationSettings
  /** For TokenReviews; undefined: bearer tokens are not looked at. */
  readonly client?: Client
  readonly tokenCacheMs: number
  readonly metrics: AuthMetrics
}

/** A user, `anonymous` without credentials, or that the credentials presented are not good. */
type Authenticated = { readonly user: User } | { readonly refused: string }

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean
    readonly error?: string
    readonly user?: {
      readonly username?: string
      readonly uid?: string
      readonly groups?: readonly string[]
      readonly extra?: Readonly<Record<string, readonly string[]>>
    }
  }
}

export class Authentication {
  readonly #options: AuthenticationOptions
  readonly #tokens: ExpiringCache<User | undefined>

  constructor(options: AuthenticationOptions) {
    this.#options = options
    this.#tokens = new ExpiringCache(options.clock, options.metrics.tokenCache())
  }

  /** A credential that fails does not keep a later one from being accepted. */
  async authenticate(request: IncomingRequest): Promise<Authenticated> {
    const problems: string[] = []
    const attempts: readonly (() => User | undefined | Promise<User | undefined>)[] = [
      () => this.#byFrontProxy(request),
      () => this.#byCertificate(request),
      () => this.#byToken(request),
    ]
    for (const attempt of attempts) {
      try {
        const user = await attempt()
        if (user !== undefined) return { user: withAuthenticatedGroup(user) }
      } catch (error) {
        problems.push(errorText(error))
      }
    }
    return problems.length === 0 ? { user: ANONYMOUS } : { refused: problems.join(', ') }
  }

  #byFrontProxy(request: IncomingRequest): User | undefined {
    const { frontProxy } = this.#options.settings()
    const [certificate] = request.peerCertificates
    if (frontProxy === undefined || certificate === undefined) return undefined
    this.#verify(request, frontProxy.authorities)
    const { allowedNames } = frontProxy
    const name = commonNameOf(certificate)
    if (allowedNames.length > 0 && !allowedNames.includes(name)) {
      throw new Error(`x509: subject with cn=${name} is not in the allowed list`)
    }
    return userFromHeaders(request.headers, frontProxy)
  }

  #byCertificate(request: IncomingRequest): User | undefined {
    const { clientAuthorities } = this.#options.settings()
    const [certificate] = request.peerCertificates
    if (clientAuthorities.length === 0 || certificate === undefined) return undefined
    const leftMs = Date.parse(certificate.validTo) - this.#options.clock.nowMs()
    this.#options.metrics.certificateShown(leftMs / 1000)
    this.#verify(request, clientAuthorities)
    const user = userOf(certificate)
    return user.name === '' ? undefined : user
  }

  #verify(request: IncomingRequest, authorities: readonly X509Certificate[]): void {
    const { problem } = findChain({
      presented: request.peerCertificates,
      authorities,
      usage: EXTENDED_KEY_USAGE.client,
      nowMs: this.#options.clock.nowMs(),
    })
    if (problem !== undefined) throw new Error(problem)
  }

  async #byToken(request: IncomingRequest): Promise<User | undefined> {
    const { client, tokenCacheMs } = this.#options
    // As Go: words are what stands between single blanks, so a second blank makes the token empty.
    const [scheme = '', token = ''] = (request.headers['authorization']?.[0] ?? '')
      .trim()
      .split(' ')
    if (client === undefined || scheme.toLowerCase() !== 'bearer' || token === '') return undefined
    const user = await this.#tokens.get(token, async () => {
      const { status } = await review<TokenReview>(this.#options, client, {
        purpose: 'authn',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        json: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
      })
      // What could not be looked at, or says why it is not good, is looked at again the next time.
      if (status?.authenticated !== true && status?.error) throw new Error(status.error)
      if (status?.authenticated !== true) return { value: undefined, forMs: tokenCacheMs }
      const { username = '', uid, groups = [], extra } = status.user ?? {}
      const value: User = {
        name: username,
        groups,
        ...(uid ? { uid } : {}),
        ...(extra ? { extra } : {}),
      }
      return { value, forMs: tokenCacheMs }
    })
    if (user === undefined) throw new Error('invalid bearer token')
    return user
  }
}

/** Undefined when the proxy names nobody. */
function userFromHeaders(
  headers: IncomingRequest['headers'],
  settings: FrontProxySettings,
): User | undefined {
  const first = (names: readonly string[]): string | undefined =>
    names.map((name) => headers[name]?.[0]?.trim()).find(Boolean)
  const name = first(settings.usernameHeaders)
  if (name === undefined) return undefined
  const groups = settings.groupHeaders.flatMap((header) => headers[header] ?? [])
  const uid = first(settings.uidHeaders)
  const extra: Record<string, readonly string[]> = {}
  for (const prefix of settings.extraHeaderPrefixes) {
    for (const [header, values] of Object.entries(headers)) {
      if (header.startsWith(prefix)) extra[percentDecoded(header.slice(prefix.length))] = values
    }
  }
  return { name, groups, extra, ...(uid === undefined ? {} : { uid }) }
}

/** Keys that are no header names come percent-encoded; what is not well-formed stays as it is. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Unless it is said already whether there was a credential: a front proxy also speaks for those who showed it none. */
function withAuthenticatedGroup(user: User): User {
  const isSaid = [AUTHENTICATED, UNAUTHENTICATED].some((group) => user.groups.includes(group))
  if (isSaid || user.name === ANONYMOUS.name) return user
  return { ...user, groups: [...user.groups, AUTHENTICATED] }
}
