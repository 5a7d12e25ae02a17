import type { Client } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import { uuid } from '@gyropilot/foundation'
import { controllerErrors } from '../builder/errors.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import { LeaderElector } from '../leader-election/leader-elector.ts'
import type { LeaderCallbacks } from '../leader-election/elector-options.ts'
import { LeaseLock } from '../leader-election/lease-lock.ts'

/** Contract: docs/behaviour/runtime/leader-election.md. */
export interface LeaderElectionOptions {
  /** The name of the Lease: the same for all replicas, no other program's. */
  readonly id: string
  /** Where the Lease is. In a pod that of the pod, which `connect` has read: the `namespace` of its answer, undefined elsewhere. Needed. */
  readonly namespace: string | undefined
  /** Who we are among the replicas. Default: a random one. */
  readonly identity?: string
  /** Default 15 s. */
  readonly leaseDurationMs?: number
  /** Default 10 s. */
  readonly renewDeadlineMs?: number
  /** Default 2 s. */
  readonly retryPeriodMs?: number
  /** Give the lease back at a stop, for a fast takeover. Only where the process ends right after. Default false. */
  readonly releaseOnCancel?: boolean
  /** A client of its own, so that renewals do not wait behind other requests. Default: the manager's. */
  readonly client?: Client
}

/** Of a request for the lease, however short the renew deadline is. */
const LEAST_REQUEST_TIMEOUT_MS = 1_000

interface Environment {
  readonly live: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  recorder(component: string): EventRecorder
}

/** Throws LEADER_ELECTION_INVALID. */
export function electorFor(
  options: LeaderElectionOptions,
  environment: Environment,
  callbacks: LeaderCallbacks,
): LeaderElector {
  const { id, namespace } = options
  if (!id) {
    throw controllerErrors.make('LEADER_ELECTION_INVALID', 'LeaderElectionID must be configured')
  }
  if (!namespace) {
    throw controllerErrors.make(
      'LEADER_ELECTION_INVALID',
      'unable to find leader election namespace: not running in-cluster, please specify LeaderElectionNamespace',
    )
  }
  const { live, clock, random, logger, metrics } = environment
  const identity = options.identity ?? uuid(random.fork('leader-election/identity'))
  const renewDeadlineMs = options.renewDeadlineMs ?? 10_000
  return new LeaderElector({
    lock: new LeaseLock({
      client: options.client ?? live,
      namespace,
      name: id,
      identity,
      recorder: environment.recorder(identity),
      requestTimeout: { clock, ms: Math.max(LEAST_REQUEST_TIMEOUT_MS, renewDeadlineMs / 2) },
    }),
    leaseDurationMs: options.leaseDurationMs ?? 15_000,
    renewDeadlineMs,
    retryPeriodMs: options.retryPeriodMs ?? 2_000,
    releaseOnCancel: options.releaseOnCancel ?? false,
    callbacks,
    clock,
    random: random.fork('leader-election'),
    logger,
    name: id,
    metrics,
  })
}
