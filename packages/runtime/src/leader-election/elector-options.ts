/** What a contender is told, and what it is refused for. Contract: docs/behaviour/runtime/leader-election.md, Configuration. */
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import type { LeaseLock } from './lease-lock.ts'

/** Acquire polls are up to so many retry periods longer than one, and the renew deadline must leave room for one. */
export const JITTER_FACTOR = 1.2

/** What an elector tells its program; client-go's names. They must not throw, but for the work: what it rejects with is logged. */
export interface LeaderCallbacks {
  /**
   * Starts the work, once at most. Not awaited; `signal` aborts when leadership ends, and the work must end then: nothing
   * stops writes that are under way.
   */
  onStartedLeading(signal: AbortSignal): Promise<void> | void
  /** Once, when the run ends, also when leadership was never held. */
  onStoppedLeading(): void
  /** Each time another holder is seen: its identity, one's own and `""` (nobody) included. */
  onNewLeader?(identity: string): void
}

/**
 * Milliseconds, with no defaults: kube-controller-manager has 15,000, 10,000 and 2,000. What must hold between them:
 * `timingProblem`. What follows for a fail-over: docs/decisions/0010-fail-over-bound.md.
 */
export interface ElectionTiming {
  /** How long others leave an unrenewed lease alone. Written to the Lease in whole seconds, rounded up. */
  readonly leaseDurationMs: number
  /** How long the leader tries to renew before it gives up. */
  readonly renewDeadlineMs: number
  /** Between renewals, and at least between polls; polls are up to 2.2 times as far apart. */
  readonly retryPeriodMs: number
}

/** Contract: docs/behaviour/runtime/leader-election.md, Configuration. */
export interface LeaderElectorOptions extends ElectionTiming {
  /** Of this elector alone: it remembers what was read last. */
  readonly lock: LeaseLock
  readonly callbacks: LeaderCallbacks
  readonly clock: Clock
  /** Spreads the tries of contenders. */
  readonly random: RandomSource
  readonly logger: Logger
  /** Label `name` of its metrics, and what its health check calls it: `kube-controller-manager`. */
  readonly name: string
  /** Gets leader_election_master_status and leader_election_slowpath_total. Default: none. */
  readonly metrics?: MetricsRegistry
  /** Give the lease back when the run is cancelled and the work has ended. Default false: it runs out. */
  readonly releaseOnCancel?: boolean
  /**
   * A controller in the API server chooses; this elector only renews what it was given, and needs a LeaseCandidate beside it
   * (KEP-4355). Default false.
   */
  readonly coordinated?: boolean
}

/** Why an election cannot work with these durations, in client-go's words; undefined: it can. */
export function timingProblem(timing: ElectionTiming): string | undefined {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timing
  return firstBroken([
    [leaseDurationMs > renewDeadlineMs, 'leaseDuration must be greater than renewDeadline'],
    [
      renewDeadlineMs > JITTER_FACTOR * retryPeriodMs,
      'renewDeadline must be greater than retryPeriod*JitterFactor',
    ],
    [leaseDurationMs >= 1, 'leaseDuration must be greater than zero'],
    [renewDeadlineMs >= 1, 'renewDeadline must be greater than zero'],
    [retryPeriodMs >= 1, 'retryPeriod must be greater than zero'],
  ])
}

/** Throws for durations that cannot work, for missing callbacks and for an empty identity. */
export function validate(options: LeaderElectorOptions): void {
  const { callbacks, lock } = options
  const problem =
    timingProblem(options) ??
    firstBroken([
      [callbacks?.onStartedLeading !== undefined, 'OnStartedLeading callback must not be nil'],
      [callbacks?.onStoppedLeading !== undefined, 'OnStoppedLeading callback must not be nil'],
      [lock !== undefined && lock !== null, 'Lock must not be nil.'],
      [lock?.identity !== '', 'Lock identity is empty'],
    ])
  if (problem !== undefined) throw new Error(problem)
}

function firstBroken(
  rules: readonly (readonly [holds: boolean, message: string])[],
): string | undefined {
  return rules.find(([holds]) => !holds)?.[1]
}
