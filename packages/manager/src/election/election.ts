/** Leadership around the controllers. Contract: docs/behaviour/runtime/manager.md, Leader election wiring, Shutdown and exit. */
import type { Client } from '@gyropilot/client'
import { GyropilotError, errorText } from '@gyropilot/foundation'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import { LeaderElectionHealthCheck, LeaderElector, LeaseLock } from '@gyropilot/runtime'
import type { EventRecorder, LeaderCallbacks } from '@gyropilot/runtime'
import { managerErrors } from '../errors.ts'
import { withinShutdownTimeout } from '../shutdown.ts'

/** How long past its lease a holder that does not renew still counts as healthy. */
const TOLERANCE_MS = 20_000

export interface ElectionOptions {
  /** `''`, or `migration ` for the second lock: begins its log lines. */
  readonly logPrefix: string
  readonly leaseName: string
  readonly leaseNamespace: string
  readonly identity: string
  /** Of its own: it waits for no other rate limit. */
  readonly client: Client
  readonly recorder: EventRecorder
  readonly leaseDurationMs: number
  readonly renewDeadlineMs: number
  readonly retryPeriodMs: number
  /** The server chooses the leader. */
  readonly coordinated: boolean
  /** At the end loops are stopped, awaited, and the lease is given back. */
  readonly releasesLease: boolean
  readonly shutdownTimeoutMs: number
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  /** The work of the leader. `holdsLease` turns false by itself when the lease has run out. */
  run(term: AbortSignal, holdsLease: () => boolean): Promise<void>
}

export interface Election {
  /** Undefined: well. */
  check(): string | undefined
  /** Resolves after an orderly release; rejects with the error that ends the process. Never contends twice. */
  run(signal: AbortSignal): Promise<void>
}

/** Throws LEADER_ELECTION_TIMING_INVALID for durations that cannot work. */
export function createElection(options: ElectionOptions): Election {
  const term = new Term(options)
  const elector = electorOf(options, term)
  const health = new LeaderElectionHealthCheck(TOLERANCE_MS)
  health.bind(elector)
  return {
    check: () => health.check()?.message,
    run: (signal) => term.contend(elector, signal),
  }
}

function electorOf(options: ElectionOptions, callbacks: LeaderCallbacks): LeaderElector {
  const { leaseName, leaseNamespace, identity, client, recorder, random, logger } = options
  const lock = new LeaseLock({
    client,
    namespace: leaseNamespace,
    name: leaseName,
    identity,
    recorder,
  })
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, clock, metrics } = options
  try {
    return new LeaderElector({
      lock,
      leaseDurationMs,
      renewDeadlineMs,
      retryPeriodMs,
      callbacks,
      clock,
      random: random.fork(`leader-election/${leaseName}`),
      logger: logger.named('leader-election'),
      name: leaseName,
      metrics,
      releaseOnCancel: options.releasesLease,
      coordinated: options.coordinated,
    })
  } catch (error) {
    throw managerErrors.make('LEADER_ELECTION_TIMING_INVALID', errorText(error), { cause: error })
  }
}

/** The one term of this process, from the first try to the end. */
class Term implements LeaderCallbacks {
  readonly #options: ElectionOptions
  readonly #failed = Promise.withResolvers<never>()
  /** Ends contending: the outer signal did, or the work failed. */
  readonly #stopping = new AbortController()
  #elector: LeaderElector | undefined
  #error: unknown

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#failed.promise.catch(() => {})
  }

  async contend(elector: LeaderElector, signal: AbortSignal): Promise<void> {
    this.#elector = elector
    const stop = (): void => this.#stopping.abort(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    await Promise.race([elector.run(this.#stopping.signal), this.#failed.promise])
    if (this.#error !== undefined) throw this.#error
    if (this.#isReleasing) return
    throw managerErrors.make('LEASE_LOST', this.#lostText)
  }

  /** What is returned decides when the lease may be given back: it ends only when the loops have ended. */
  async onStartedLeading(term: AbortSignal): Promise<void> {
    const { run, releasesLease, shutdownTimeoutMs } = this.#options
    const loops = run(term, () => this.#elector?.holdsLease ?? false)
    const bounded = releasesLease
      ? withinShutdownTimeout(loops, term, { ...this.#options, timeoutMs: shutdownTimeoutMs })
      : loops
    bounded.catch((error: unknown) => this.#fail(error))
    await loops.catch(() => {})
  }

  onStoppedLeading(): void {
    const { logger, logPrefix } = this.#options
    if (this.#isReleasing) logger.info(`${logPrefix}leaderelection stopped`)
    else logger.error(undefined, this.#lostText)
  }

  #fail(error: unknown): void {
    this.#error ??= error
    const isOverdue = error instanceof GyropilotError && error.code === 'SHUTDOWN_TIMEOUT'
    // The lease is given back when the loops have ended; loops that do not end keep it until it expires.
    if (this.#options.releasesLease && !isOverdue) this.#stopping.abort(error)
    else this.#failed.reject(error)
  }

  get #isReleasing(): boolean {
    return this.#options.releasesLease && this.#stopping.signal.aborted
  }

  get #lostText(): string {
    return `${this.#options.logPrefix}leaderelection lost`
  }
}
