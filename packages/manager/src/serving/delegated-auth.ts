/**
 * Who asks, and whether they may: decided by the cluster. Contract: docs/behaviour/runtime/manager.md, Serving.
 * Without a client for reviews every request is anonymous, and only always-allowed paths are served.
 */
import type { Client } from '@gyropilot/client'
import type { Clock } from '@gyropilot/foundation'
import type { PlainAnswer } from './health.ts'

export interface User {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
}

export const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

export interface IncomingRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** Of `Authorization: Bearer ...`. */
  readonly bearerToken?: string
  /** Of a client certificate that the client CA vouches for. */
  readonly certificateUser?: User
}

export interface DelegatedAuthOptions {
  readonly clock: Clock
  /** For TokenReviews; undefined: bearer tokens are not looked at. */
  readonly authenticationClient?: Client
  /** For SubjectAccessReviews. */
  readonly authorizationClient?: Client
  readonly tokenCacheMs: number
  readonly authorizedCacheMs: number
  readonly unauthorizedCacheMs: number
  /** A `*` at the end stands for everything that begins so. */
  readonly alwaysAllowPaths: readonly string[]
}

interface Cached<T> {
  readonly value: T
  readonly untilMs: number
}

/** More entries than this and the oldest go: a flood of made-up tokens must not fill the memory. */
const CACHE_LIMIT = 4096

export class DelegatedAuth {
  readonly #options: DelegatedAuthOptions
  readonly #tokens = new Map<string, Cached<User | undefined>>()
  readonly #decisions = new Map<string, Cached<boolean>>()

  constructor(options: DelegatedAuthOptions) {
    this.#options = options
  }

  /** Undefined: go on. Else the refusal. */
  async refusal(request: IncomingRequest): Promise<PlainAnswer | undefined> {
    // A review that fails vouches for nobody.
    const user = await this.#authenticate(request).catch(() => undefined)
    if (user === undefined) return { status: 401, body: 'Unauthorized\n' }
    if (user.groups.includes('system:masters') || this.#isAlwaysAllowed(request.path))
      return undefined
    try {
      if (await this.#isAuthorized(user, request)) return undefined
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      return {
        status: 500,
        body: `Internal Server Error: ${JSON.stringify(request.path)}: ${detail}\n`,
      }
    }
    const verb = request.method.toLowerCase()
    const body = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(request.path)}\n`
    return { status: 403, body }
  }

  #isAlwaysAllowed(path: string): boolean {
    return this.#options.alwaysAllowPaths.some((allowed) =>
      allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed,
    )
  }

  async #authenticate(request: IncomingRequest): Promise<User | undefined> {
    if (request.certificateUser !== undefined) {
      const { groups } = request.certificateUser
      return { ...request.certificateUser, groups: [...groups, 'system:authenticated'] }
    }
    const { authenticationClient, tokenCacheMs } = this.#options
    if (request.bearerToken === undefined) return ANONYMOUS
    if (authenticationClient === undefined) return ANONYMOUS
    const token = request.bearerToken
    return this.#cached(this.#tokens, token, async () => {
      const review = await authenticationClient.raw<{
        status?: {
          authenticated?: boolean
          user?: { username?: string; uid?: string; groups?: string[] }
        }
      }>({
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        json: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
      })
      const found = review.status?.authenticated === true ? review.status.user : undefined
      const user =
        found === undefined ? undefined : { name: found.username ?? '', groups: found.groups ?? [] }
      return { value: user, forMs: tokenCacheMs }
    })
  }

  async #isAuthorized(user: User, request: IncomingRequest): Promise<boolean> {
    const { authorizationClient, authorizedCacheMs, unauthorizedCacheMs } = this.#options
    if (authorizationClient === undefined) return false
    const verb = request.method.toLowerCase()
    const key = JSON.stringify([user.name, user.groups, verb, request.path])
    return this.#cached(this.#decisions, key, async () => {
      const review = await authorizationClient.raw<{ status?: { allowed?: boolean } }>({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        json: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: {
            user: user.name,
            groups: user.groups,
            nonResourceAttributes: { path: request.path, verb },
          },
        },
      })
      const allowed = review.status?.allowed === true
      return { value: allowed, forMs: allowed ? authorizedCacheMs : unauthorizedCacheMs }
    })
  }

  async #cached<T>(
    cache: Map<string, Cached<T>>,
    key: string,
    ask: () => Promise<{ value: T; forMs: number }>,
  ): Promise<T> {
    const nowMs = this.#options.clock.monotonicMs()
    const known = cache.get(key)
    if (known !== undefined && known.untilMs > nowMs) return known.value
    const { value, forMs } = await ask()
    cache.delete(key)
    cache.set(key, { value, untilMs: nowMs + forMs })
    for (const oldest of cache.keys()) {
      if (cache.size <= CACHE_LIMIT) break
      cache.delete(oldest)
    }
    return value
  }
}
