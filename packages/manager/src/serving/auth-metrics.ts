/** What is counted of those who ask: names, labels and buckets are upstream's. */
import { StatusError } from '@gyropilot/client'
import {
  CERTIFICATE_LIFETIME_BUCKETS_SECONDS,
  DECISION_BUCKETS_SECONDS,
  countedUserName,
} from '@gyropilot/foundation'
import type { Clock, Gauge, Histogram, MetricsRegistry } from '@gyropilot/foundation'
import type { CacheObserver } from './expiring-cache.ts'

type AuthenticationResult = 'success' | 'error'
type AuthorizationResult = 'allowed' | 'no-opinion' | 'error'
export type ReviewPurpose = 'authn' | 'authz'

const ALPHA = { stability: 'ALPHA' } as const
const REVIEW_BUCKETS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10]
const CACHE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class AuthMetrics {
  readonly #clock: Clock
  readonly #registry: MetricsRegistry
  readonly #certificateSeconds: Histogram

  constructor(clock: Clock, registry: MetricsRegistry) {
    this.#clock = clock
    this.#registry = registry
    this.#certificateSeconds = registry.histogram({
      ...ALPHA,
      name: 'apiserver_client_certificate_expiration_seconds',
      help: 'How long the certificates are valid yet that requests are made with.',
      buckets: CERTIFICATE_LIFETIME_BUCKETS_SECONDS,
    })
    this.#certificateSeconds.initialize({})
  }

  /** One whose holder may be asked for, whether an authority vouches for it or not. */
  certificateShown(remainingSeconds: number): void {
    this.#certificateSeconds.observe(remainingSeconds)
  }

  /** Of the cache of tokens that were reviewed. */
  tokenCache(): CacheObserver {
    return {
      asked: () => {
        const startedMs = this.startedMs()
        return (known) => {
          const labels = { status: known ? 'hit' : 'miss' }
          this.#count('authentication_token_cache_request_total', '', labels)
          const name = 'authentication_token_cache_request_duration_seconds'
          this.#time(name, '', CACHE_BUCKETS, labels, startedMs)
        }
      },
      waiting: () => this.#active('blocked'),
      fetching: () => {
        const done = this.#active('in_flight')
        return (succeeded) => {
          done()
          const labels = { status: succeeded ? 'ok' : 'error' }
          this.#count('authentication_token_cache_fetch_total', '', labels)
        }
      },
    }
  }

  #active(status: 'blocked' | 'in_flight'): () => void {
    const gauge: Gauge = this.#registry.gauge({
      ...ALPHA,
      name: 'authentication_token_cache_active_fetch_count',
      help: '',
      labels: ['status'],
    })
    gauge.add(1, { status })
    return () => gauge.add(-1, { status })
  }

  /** For one of the three below. */
  startedMs(): number {
    return this.#clock.monotonicMs()
  }

  /** `userName` of those who were believed. */
  authenticated(result: AuthenticationResult, startedMs: number, userName?: string): void {
    const labels = { result }
    this.#count('authentication_attempts', 'Counter of authenticated attempts.', labels)
    const help = 'Authentication duration in seconds broken out by result.'
    this.#time('authentication_duration_seconds', help, DECISION_BUCKETS_SECONDS, labels, startedMs)
    if (userName === undefined) return
    const username = countedUserName(userName)
    const counted = 'Counter of authenticated requests broken out by username.'
    this.#count('authenticated_user_requests', counted, { username })
  }

  authorized(result: AuthorizationResult, startedMs: number): void {
    const attempts =
      "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'."
    this.#count('authorization_attempts_total', attempts, { result })
    const help = 'Authorization duration in seconds broken out by result.'
    this.#time(
      'authorization_duration_seconds',
      help,
      DECISION_BUCKETS_SECONDS,
      { result },
      startedMs,
    )
  }

  /** One request to the cluster; `error` is why it was refused, or has no answer. */
  reviewed(purpose: ReviewPurpose, startedMs: number, error?: unknown): void {
    const refusal = error instanceof StatusError ? String(error.code) : '<error>'
    const labels = { code: error === undefined ? '201' : refusal }
    const name = `apiserver_delegated_${purpose}_request`
    this.#count(`${name}_total`, 'Number of HTTP requests partitioned by status code.', labels)
    const help = 'Request latency in seconds. Broken down by status code.'
    this.#time(`${name}_duration_seconds`, help, REVIEW_BUCKETS, labels, startedMs)
  }

  #count(name: string, help: string, labels: Readonly<Record<string, string>>): void {
    const counter = this.#registry.counter({ ...ALPHA, name, help, labels: Object.keys(labels) })
    counter.increment(labels)
  }

  #time(
    name: string,
    help: string,
    buckets: readonly number[],
    labels: Readonly<Record<string, string>>,
    startedMs: number,
  ): void {
    const options = { ...ALPHA, name, help, labels: Object.keys(labels), buckets }
    const seconds = (this.#clock.monotonicMs() - startedMs) / 1000
    this.#registry.histogram(options).observe(seconds, labels)
  }
}
