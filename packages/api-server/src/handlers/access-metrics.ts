/** Who asked and who may, counted under kube-apiserver's names. Contract: docs/behaviour/api-server/requests.md, "Metrics". */
import {
  CERTIFICATE_LIFETIME_BUCKETS_SECONDS,
  DECISION_BUCKETS_SECONDS,
  countedUserName,
} from '@gyropilot/foundation'
import type { Clock, Counter, Histogram, MetricsRegistry } from '@gyropilot/foundation'

export class AccessMetrics {
  readonly #clock: Clock
  readonly #attempts: Counter
  readonly #attemptDurations: Histogram
  readonly #users: Counter
  readonly #decisions: Counter
  readonly #decisionDurations: Histogram
  readonly #lifetimes: Histogram

  constructor(registry: MetricsRegistry, clock: Clock) {
    this.#clock = clock
    this.#attempts = registry.counter({
      name: 'authentication_attempts',
      help: 'Counter of authenticated attempts.',
      labels: ['result'],
    })
    this.#attemptDurations = registry.histogram({
      name: 'authentication_duration_seconds',
      help: 'Authentication duration in seconds broken out by result.',
      labels: ['result'],
      buckets: DECISION_BUCKETS_SECONDS,
    })
    this.#users = registry.counter({
      name: 'authenticated_user_requests',
      help: 'Counter of authenticated requests broken out by username.',
      labels: ['username'],
    })
    this.#decisions = registry.counter({
      name: 'authorization_attempts_total',
      help: "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
      labels: ['result'],
    })
    this.#decisionDurations = registry.histogram({
      name: 'authorization_duration_seconds',
      help: 'Authorization duration in seconds broken out by result.',
      labels: ['result'],
      buckets: DECISION_BUCKETS_SECONDS,
    })
    this.#lifetimes = registry.histogram({
      name: 'apiserver_client_certificate_expiration_seconds',
      help: 'How long the certificates are valid yet that requests are made with.',
      labels: [],
      buckets: CERTIFICATE_LIFETIME_BUCKETS_SECONDS,
    })
  }

  startedMs(): number {
    return this.#clock.monotonicMs()
  }

  /** `userName` of who was believed; undefined: nobody was. */
  authenticated(startMs: number, userName: string | undefined): void {
    const result = userName === undefined ? 'error' : 'success'
    this.#attempts.increment({ result })
    this.#attemptDurations.observe(this.#since(startMs), { result })
    if (userName === undefined) return
    const username = countedUserName(userName)
    this.#users.increment({ username })
  }

  authorized(startMs: number, allowed: boolean): void {
    const result = allowed ? 'allowed' : 'no-opinion'
    this.#decisions.increment({ result })
    this.#decisionDurations.observe(this.#since(startMs), { result })
  }

  /** Somebody was believed for a certificate. */
  certificateShown(remainingMs: number): void {
    this.#lifetimes.observe(remainingMs / 1000)
  }

  #since(startMs: number): number {
    return (this.#clock.monotonicMs() - startMs) / 1000
  }
}
