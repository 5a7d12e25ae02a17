/** Who is asking. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Authentication". */
import { timingSafeEqual } from 'node:crypto'
import type { X509Certificate } from 'node:crypto'
import { textOfHeader } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { EXTENDED_KEY_USAGE, certificatesOfPem, findChain } from '@gyropilot/foundation/x509'
import { ApiError } from '../contracts.ts'
import type { Authenticator, Credentials, UserInfo, WarningSink } from '../contracts.ts'
import { tokenOffered } from '../http/web-socket-protocols.ts'
import type { Store } from '../storage/store.ts'
import { subjectOf } from '../tls/cluster-certificates.ts'
import { CREDENTIAL_ID, GROUP, withAuthenticatedGroup } from './identity.ts'
import type {
  AuthenticatedToken,
  RefusedToken,
  ServiceAccountTokens,
} from './service-account-tokens.ts'

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
  /** For TokenReview. */
  judgeToken(token: string, audiences?: readonly string[]): AuthenticatedToken | RefusedToken
}

const EXTRA_SPACE =
  'the provided Authorization header contains extra space before the bearer token, and is ignored'
const BOOTSTRAP_TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const BOOTSTRAP_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const REMOTE_EXTRA = 'x-remote-extra-'
const CERTIFICATES_KEPT = 1024
const NOTHING: JudgedCertificate = {}

export function createAuthentication(options: AuthenticationOptions): Authentication {
  return new UnionAuthentication(options)
}

function unauthorized(): ApiError {
  return new ApiError(401, 'Unauthorized', 'Unauthorized')
}

/** What a certificate is believed to be, at some time or other: of a front proxy, of a user, or of both. */
interface JudgedCertificate {
  readonly asProxy?: Validity
  /** Without `user`: it names nobody. */
  readonly asUser?: Validity & { readonly user?: UserInfo }
}

/** When all of the chain are valid. */
interface Validity {
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
    // Of a bundle all: an authority that is being replaced stands beside its successor.
    this.#clientAuthorities = certificatesOfPem(options.clientAuthorityPem ?? '')
    this.#frontProxyAuthorities = certificatesOfPem(options.frontProxyAuthorityPem ?? '')
  }

  authenticate(credentials: Credentials, warnings?: WarningSink): UserInfo | undefined {
    const { clientCertificates = [] } = credentials
    const { asProxy, asUser } = this.#judge(clientCertificates)
    if (this.#isNow(asProxy)) {
      const remote = remoteUser(credentials)
      if (remote !== undefined) return withAuthenticatedGroup(remote)
    }
    if (this.#isNow(asUser) && asUser.user !== undefined) {
      const { onCertificate, clock } = this.#options
      onCertificate?.(asUser.validToMs - clock.nowMs())
      return asUser.user
    }
    const token = bearerToken(credentials, warnings) ?? tokenOffered(credentials.headers)
    if (token !== undefined) {
      const judged = this.judgeToken(token)
      if ('refused' in judged) throw unauthorized()
      return judged.user
    }
    // A certificate that is not believed does not keep a token from being; alone it is refused.
    const isRefused = clientCertificates.length > 0 && !this.#isNow(asUser)
    if (isRefused || this.#options.anonymousAuthentication === false) throw unauthorized()
    return undefined
  }

  judgeToken(token: string, audiences?: readonly string[]): AuthenticatedToken | RefusedToken {
    const fixed = this.#options.tokens?.get(token) ?? this.#bootstrapUser(token)
    if (fixed !== undefined) {
      const known = this.#options.serviceAccountTokens.audiences
      const shared = (audiences ?? known).filter((audience) => known.includes(audience))
      return shared.length === 0
        ? { refused: '' }
        : { user: withAuthenticatedGroup(fixed), audiences: shared }
    }
    const judged = this.#options.serviceAccountTokens.judge(token, audiences)
    return 'refused' in judged ? judged : { ...judged, user: withAuthenticatedGroup(judged.user) }
  }

  #judge(presented: readonly X509Certificate[]): JudgedCertificate {
    const [certificate] = presented
    if (certificate === undefined) return NOTHING
    const fingerprint = certificate.fingerprint256
    const known = this.#certificates.get(fingerprint)
    // What has run out may be of another certificate of the chain, and that has been made anew.
    if (known !== undefined && (this.#isNow(known.asProxy) || this.#isNow(known.asUser)))
      return known
    const judged = this.#read(certificate, presented)
    // The same certificate may come again with those that lead to an authority.
    if (judged.asProxy === undefined && judged.asUser === undefined) return NOTHING
    if (this.#certificates.size >= CERTIFICATES_KEPT)
      this.#certificates.delete(this.#certificates.keys().next().value!)
    this.#certificates.set(fingerprint, judged)
    return judged
  }

  #read(certificate: X509Certificate, presented: readonly X509Certificate[]): JudgedCertificate {
    const { commonName, organizations } = subjectOf(certificate.raw)
    const names = this.#options.frontProxyNames ?? ['front-proxy-client']
    const asProxy =
      names.length === 0 || names.includes(commonName)
        ? this.#validity(presented, this.#frontProxyAuthorities)
        : undefined
    const validity = this.#validity(presented, this.#clientAuthorities)
    const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
    const user = {
      name: commonName,
      groups: organizations,
      extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
    }
    return {
      ...(asProxy && { asProxy }),
      ...(validity && {
        asUser: commonName === '' ? validity : { ...validity, user: withAuthenticatedGroup(user) },
      }),
    }
  }

  /** Undefined: no chain leads to the authorities now. */
  #validity(
    presented: readonly X509Certificate[],
    authorities: readonly X509Certificate[],
  ): Validity | undefined {
    const nowMs = this.#options.clock.nowMs()
    const usage = EXTENDED_KEY_USAGE.client
    const { chain } = findChain({ presented, authorities, usage, nowMs })
    return (
      chain && {
        validFromMs: Math.max(...chain.map(({ validFromDate }) => validFromDate.getTime())),
        validToMs: Math.min(...chain.map(({ validToDate }) => validToDate.getTime())),
      }
    )
  }

  #isNow<T extends Validity>(validity: T | undefined): validity is T {
    if (validity === undefined) return false
    const nowMs = this.#options.clock.nowMs()
    return validity.validFromMs <= nowMs && nowMs <= validity.validToMs
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

/** Groups without a name are passed over, values of extras are not. Two spellings may tell of one key. */
function remoteUser(credentials: Credentials): UserInfo | undefined {
  const [name = ''] = headerValues(credentials, 'x-remote-user')
  if (name === '') return undefined
  const [uid = ''] = headerValues(credentials, 'x-remote-uid')
  const extra = new Map<string, readonly string[]>()
  for (const header of Object.keys(credentials.headers)) {
    if (!header.startsWith(REMOTE_EXTRA)) continue
    const key = decodeHeaderKey(header.slice(REMOTE_EXTRA.length))
    extra.set(key, [...(extra.get(key) ?? []), ...headerValues(credentials, header)])
  }
  return {
    name,
    ...(uid === '' ? {} : { uid }),
    groups: headerValues(credentials, 'x-remote-group').filter((group) => group !== ''),
    extra: Object.fromEntries(extra),
  }
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
  return typeof value === 'string' ? [textOfHeader(value)] : value.map(textOfHeader)
}
