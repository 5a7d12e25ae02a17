/** Who is asking. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Authentication". */
import { X509Certificate, hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@gyropilot/foundation'
import { ApiError } from '../contracts.ts'
import type { Authenticator, Credentials, UserInfo, WarningSink } from '../contracts.ts'
import { tokenOffered } from '../http/web-socket-protocols.ts'
import type { Store } from '../storage/store.ts'
import { subjectOf } from '../tls/cluster-certificates.ts'
import { CREDENTIAL_ID, GROUP, withAuthenticatedGroup } from './identity.ts'
import type { AuthenticatedToken, ServiceAccountTokens } from './service-account-tokens.ts'

interface AuthenticationOptions {
  readonly clock: Clock
  readonly store: Store
  readonly serviceAccountTokens: ServiceAccountTokens
  /** Sign client certificates; one or several, in PEM. Absent: certificates are refused. */
  readonly clientAuthorityPem?: string
  /** Signs the certificates of proxies in front of this server, which name the user in X-Remote-* headers. */
  readonly frontProxyAuthorityPem?: string
  /** Common names that front proxies may have. Default `front-proxy-client`; empty: any. */
  readonly frontProxyNames?: readonly string[]
  /** False: a request that shows nothing is refused with 401. Default true. */
  readonly anonymousAuthentication?: boolean
  /** Somebody is believed for a certificate that is valid for so long yet. */
  readonly onCertificate?: (remainingMs: number) => void
  /** Static bearer tokens. */
  readonly tokens?: ReadonlyMap<string, UserInfo>
}

export interface Authentication extends Authenticator {
  /** For TokenReview. Undefined: no such token. */
  authenticateToken(token: string, audiences?: readonly string[]): AuthenticatedToken | undefined
  /** Why a token that was not believed is none, where that is told. */
  tokenProblem(token: string, audiences?: readonly string[]): string | undefined
}

const EXTRA_SPACE =
  'the provided Authorization header contains extra space before the bearer token, and is ignored'
const CLIENT_AUTH_USAGE = '1.3.6.1.5.5.7.3.2'
const BOOTSTRAP_TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const BOOTSTRAP_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const CERTIFICATES_KEPT = 1024
const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export function createAuthentication(options: AuthenticationOptions): Authentication {
  return new UnionAuthentication(options)
}

function unauthorized(): ApiError {
  return new ApiError(401, 'Unauthorized', 'Unauthorized')
}

interface JudgedCertificate {
  readonly kind: 'client' | 'front-proxy'
  readonly user: UserInfo
  readonly validFromMs: number
  readonly validToMs: number
}

/** Asks each method in kube-apiserver's order: front proxy, client certificate, bearer token. The first that knows decides. */
class UnionAuthentication implements Authentication {
  readonly #options: AuthenticationOptions
  readonly #clientAuthorities: readonly X509Certificate[]
  readonly #frontProxyAuthorities: readonly X509Certificate[]
  readonly #certificates = new Map<string, JudgedCertificate>()

  constructor(options: AuthenticationOptions) {
    this.#options = options
    this.#clientAuthorities = parse(options.clientAuthorityPem)
    this.#frontProxyAuthorities = parse(options.frontProxyAuthorityPem)
  }

  authenticate(credentials: Credentials, warnings?: WarningSink): UserInfo | undefined {
    const certificate =
      credentials.clientCertificate === undefined
        ? undefined
        : this.#judge(credentials.clientCertificate)
    if (certificate?.kind === 'front-proxy') {
      const remote = remoteUser(credentials)
      if (remote !== undefined) return withAuthenticatedGroup(remote)
    }
    if (certificate?.kind === 'client') {
      const { onCertificate, clock } = this.#options
      onCertificate?.(certificate.validToMs - clock.nowMs())
      return certificate.user
    }
    const token = bearerToken(credentials, warnings) ?? tokenOffered(credentials.headers)
    if (token !== undefined) {
      const found = this.authenticateToken(token)
      if (found === undefined) throw unauthorized()
      return found.user
    }
    if (this.#options.anonymousAuthentication === false) throw unauthorized()
    return undefined
  }

  authenticateToken(token: string, audiences?: readonly string[]): AuthenticatedToken | undefined {
    const fixed = this.#options.tokens?.get(token) ?? this.#bootstrapUser(token)
    if (fixed !== undefined) {
      const known = this.#options.serviceAccountTokens.audiences
      const shared = (audiences ?? known).filter((audience) => known.includes(audience))
      return shared.length === 0
        ? undefined
        : { user: withAuthenticatedGroup(fixed), audiences: shared }
    }
    const found = this.#options.serviceAccountTokens.authenticate(token, audiences)
    return found === undefined ? undefined : { ...found, user: withAuthenticatedGroup(found.user) }
  }

  tokenProblem(token: string, audiences?: readonly string[]): string | undefined {
    return this.#options.serviceAccountTokens.problemOf(token, audiences)
  }

  /** Throws 401 for a certificate of neither authority, for another purpose, or out of its time. */
  #judge(der: Uint8Array): JudgedCertificate {
    const fingerprint = hash('sha256', der, 'hex')
    let judged = this.#certificates.get(fingerprint)
    if (judged === undefined) {
      judged = this.#read(der, fingerprint)
      if (judged === undefined) throw unauthorized()
      if (this.#certificates.size >= CERTIFICATES_KEPT)
        this.#certificates.delete(this.#certificates.keys().next().value!)
      this.#certificates.set(fingerprint, judged)
    }
    const nowMs = this.#options.clock.nowMs()
    if (nowMs < judged.validFromMs || nowMs > judged.validToMs) throw unauthorized()
    return judged
  }

  #read(der: Uint8Array, fingerprint: string): JudgedCertificate | undefined {
    const certificate = new X509Certificate(der)
    const validity = {
      validFromMs: certificate.validFromDate.getTime(),
      validToMs: certificate.validToDate.getTime(),
    }
    const usages = certificate.keyUsage as readonly string[] | undefined
    if (usages !== undefined && !usages.includes(CLIENT_AUTH_USAGE)) return undefined
    const { commonName, organizations } = subjectOf(der)
    if (isIssuedByOne(certificate, this.#frontProxyAuthorities)) {
      const names = this.#options.frontProxyNames ?? ['front-proxy-client']
      if (names.length > 0 && !names.includes(commonName)) return undefined
      return { kind: 'front-proxy', user: { name: commonName, groups: [], extra: {} }, ...validity }
    }
    if (!isIssuedByOne(certificate, this.#clientAuthorities) || commonName === '') return undefined
    const user = {
      name: commonName,
      groups: organizations,
      extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
    }
    return { kind: 'client', user: withAuthenticatedGroup(user), ...validity }
  }

  /** Bootstrap tokens stand in secrets kube-system/bootstrap-token-<id>. */
  #bootstrapUser(token: string): UserInfo | undefined {
    const match = BOOTSTRAP_TOKEN.exec(token)
    if (match === null) return undefined
    const [, id, secretPart] = match as unknown as [string, string, string]
    const stored = this.#options.store.get({
      collection: 'secrets',
      key: `kube-system/bootstrap-token-${id}`,
    })?.object
    if (stored === undefined || stored['type'] !== 'bootstrap.kubernetes.io/token') return undefined
    if (stored['metadata'].deletionTimestamp !== undefined) return undefined
    const read = (field: string): string =>
      Buffer.from(stored['data']?.[field] ?? '', 'base64').toString('utf8')
    if (read('token-id') !== id || !isSameSecret(read('token-secret'), secretPart)) return undefined
    if (read('usage-bootstrap-authentication') !== 'true') return undefined
    const expiration = read('expiration')
    if (expiration !== '' && !(Date.parse(expiration) > this.#options.clock.nowMs()))
      return undefined
    const extraGroups = read('auth-extra-groups')
    const groups = extraGroups === '' ? [] : extraGroups.split(',')
    if (!groups.every((group) => BOOTSTRAP_GROUP.test(group))) return undefined
    return {
      name: `system:bootstrap:${id}`,
      groups: [GROUP.bootstrappers, ...groups].toSorted(),
      extra: {},
    }
  }
}

/** Of a bundle all: an authority that is being replaced stands beside its successor. */
function parse(bundle = ''): readonly X509Certificate[] {
  return [...bundle.matchAll(CERTIFICATE_BLOCK)].map(([pem]) => new X509Certificate(pem))
}

function isIssuedByOne(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
): boolean {
  return authorities.some(
    (authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
  )
}

function isSameSecret(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}

function bearerToken(credentials: Credentials, warnings?: WarningSink): string | undefined {
  const header = headerValues(credentials, 'authorization')[0]
  if (header === undefined) return undefined
  const [scheme = '', token = ''] = header.trim().split(' ')
  if (scheme.toLowerCase() !== 'bearer') return undefined
  if (token !== '') return token
  // Behind two spaces there is no token.
  if (header.trim().includes(' ')) warnings?.add(EXTRA_SPACE)
  return undefined
}

function remoteUser(credentials: Credentials): UserInfo | undefined {
  const [name] = headerValues(credentials, 'x-remote-user')
  if (name === undefined || name === '') return undefined
  const extra: Record<string, readonly string[]> = {}
  for (const header of Object.keys(credentials.headers)) {
    if (!header.startsWith('x-remote-extra-')) continue
    extra[decodeHeaderKey(header.slice('x-remote-extra-'.length))] = headerValues(
      credentials,
      header,
    )
  }
  return { name, groups: headerValues(credentials, 'x-remote-group'), extra }
}

/** Keys travel percent-encoded, because header names cannot hold every character. */
export function decodeHeaderKey(text: string): string {
  try {
    return decodeURIComponent(text).toLowerCase()
  } catch {
    return text.toLowerCase()
  }
}

/** All values of a header. Node joins repeated unknown headers with `, `; the pipeline hands over lists where it can. */
export function headerValues(
  credentials: Pick<Credentials, 'headers'>,
  name: string,
): readonly string[] {
  const value = credentials.headers[name]
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}
