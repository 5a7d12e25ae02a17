/** What a contender is told, and what it is refused for. Contract: docs/behaviour/runtime/leader-election.md, Configuration. */
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import type { LeaseLock } from './lease-lock.ts'

/** Acquire polls are up to so many retry periods longer than one, and the renew deadline must leave room for one. */
export const JITTER_FACTOR = 1.2

export interface LeaderCallbacks {
  /** Starts the work. Not awaited; `signal` aborts when leadership ends. */
  onStartedLeading(signal: AbortSignal): Promise<void> | void
  /** When the run ends, also when leadership was never held. */
  onStoppedLeading(): void
  /** Each time another holder is seen, oneself and `""` included. */
  onNewLeader?(identity: string): void
}

export interface ElectionTiming {
  /** How long others leave an unrenewed lease alone. */
  readonly leaseDurationMs: number
  /** How long the leader tries to renew before it gives up. */
  readonly renewDeadlineMs: number
  /** Between renewals, and at least between polls. */
  readonly retryPeriodMs: number
}

export interface LeaderElectorOptions extends ElectionTiming {
  readonly lock: LeaseLock
  readonly callbacks: LeaderCallbacks
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** Label of metrics: `kube-controller-manager`. */
  readonly name: string
  readonly metrics?: MetricsRegistry
  /** Give the lease back when the run is cancelled and the work has ended. */
  readonly releaseOnCancel?: boolean
  /** A controller in the API server chooses; this elector only renews what it was given. */
  readonly coordinated?: boolean
}

/** Why an election cannot work with these durations. */
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
