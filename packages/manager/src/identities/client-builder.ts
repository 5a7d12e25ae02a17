/**
 * One client per controller: its own user agent, its own rate limit and, with --use-service-account-credentials, its own
 * identity. Contract: docs/behaviour/runtime/manager.md, Client identities.
 */
import { ApiClient, userAgent } from '@gyropilot/client'
import type { Client, ServerBackoffSettings, Transport, UserAgentParts } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry } from '@gyropilot/foundation'

export interface ClientRate {
  readonly qps: number
  readonly burst: number
}

interface ClientSpecials {
  /** Multiples of the builder's rate. Default 1. */
  readonly qpsFactor?: number
  readonly burstFactor?: number
  /** Bound for each request with its retries, watches excepted. Default: none. */
  readonly requestTimeoutMs?: number
}

export interface ClientBuilder {
  /** `name` is the service account in kube-system, and the suffix of the user agent. */
  client(name: string, special?: ClientSpecials): Client
  /** Asks for the credentials of `name` now. Without it, or where it fails, its first request does. */
  prepare?(name: string): void
}

export interface ClientBuilderOptions {
  /** The connection of this name, with its identity. */
  transport(name: string): Transport
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly host: string
  readonly rate: ClientRate
  readonly backoff?: ServerBackoffSettings
  /** Without suffix. */
  readonly userAgent: UserAgentParts
  /** `system:serviceaccount:kube-system:` in front of the suffix when identities are service accounts. */
  readonly suffixPrefix?: string
}

export function clientBuilder(options: ClientBuilderOptions): ClientBuilder {
  return {
    client(name, { qpsFactor = 1, burstFactor = 1, requestTimeoutMs = 0 } = {}) {
      const { clock, logger, metrics, host, rate } = options
      return new ApiClient({
        transport: options.transport(name),
        clock,
        logger,
        metrics,
        host,
        qps: rate.qps * qpsFactor,
        burst: rate.burst * burstFactor,
        backoff: options.backoff,
        requestTimeoutMs,
        userAgent: userAgent({
          ...options.userAgent,
          suffix: `${options.suffixPrefix ?? ''}${name}`,
        }),
        // Warnings are for people at a terminal; a manager's log would repeat them for ever.
        onWarning: () => {},
      })
    },
  }
}
