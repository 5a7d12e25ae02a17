/** Whether somebody may ask: system:masters, paths that are always allowed, else the cluster decides. */
import type { Client } from '@gyropilot/client'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { AuthMetrics } from './auth-metrics.ts'
import { ExpiringCache } from './expiring-cache.ts'
import type { User } from './request.ts'
import { review } from './review.ts'

interface AuthorizationOptions {
  readonly clock: Clock
  readonly random: RandomSource
  /** For SubjectAccessReviews; undefined: nothing but always-allowed paths. */
  readonly client?: Client
  readonly metrics: AuthMetrics
  readonly authorizedCacheMs: number
  readonly unauthorizedCacheMs: number
  /** A `*` at the end stands for everything that begins so. */
  readonly alwaysAllowPaths: readonly string[]
}

export class Authorization {
  readonly #options: AuthorizationOptions
  readonly #decisions: ExpiringCache<boolean>

  constructor(options: AuthorizationOptions) {
    this.#options = options
    this.#decisions = new ExpiringCache(options.clock)
  }

  /** Rejects when the cluster cannot be asked. */
  async allows(user: User, verb: string, path: string): Promise<boolean> {
    if (user.groups.includes('system:masters') || this.#isAlwaysAllowed(path)) return true
    const { client, authorizedCacheMs, unauthorizedCacheMs } = this.#options
    if (client === undefined) return false
    const { name, groups, uid, extra } = user
    const spec = { user: name, groups, uid, extra, nonResourceAttributes: { path, verb } }
    return this.#decisions.get(JSON.stringify(spec), async () => {
      const { status } = await review<{ status?: { allowed?: boolean } }>(this.#options, client, {
        purpose: 'authz',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        json: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
      })
      const allowed = status?.allowed === true
      return { value: allowed, forMs: allowed ? authorizedCacheMs : unauthorizedCacheMs }
    })
  }

  #isAlwaysAllowed(path: string): boolean {
    const asked = withoutSlash(path)
    return this.#options.alwaysAllowPaths
      .map(withoutSlash)
      .some((allowed) =>
        allowed.endsWith('*') ? asked.startsWith(allowed.slice(0, -1)) : asked === allowed,
      )
  }
}

/** As upstream compares paths: `metrics` means `/metrics`. */
function withoutSlash(path: string): string {
  return path.replace(/^\//, '')
}
