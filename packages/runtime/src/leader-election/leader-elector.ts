/** Contract: docs/behaviour/runtime/leader-election.md. */
import { isAlreadyExists, isNotFound } from '@gyropilot/client'
import type { Counter, Gauge } from '@gyropilot/foundation'
import {
  anySignal,
  errorText,
  formatMicroTime,
  jitter,
  sleep,
  untilAborted,
  withDeadline,
} from '@gyropilot/foundation'
import { JITTER_FACTOR, validate } from './elector-options.ts'
import type { LeaderElectorOptions } from './elector-options.ts'
import { fingerprintOf } from './lease-record.ts'
import type { LeaseRecord } from './lease-record.ts'
import { LeaseWatch } from './lease-watch.ts'
import { isWithin, momentOf } from './moment.ts'
import type { Moment } from './moment.ts'

/**
 * Contenders that see a lease run out at the same moment try within so many retry periods of it. The rest of a retry period is
 * left for what the last renewal takes to be seen and the try to be answered: docs/decisions/0010-fail-over-bound.md.
 */
const SPREAD_FACTOR = 0.1

/**
 * Contends for a lease, leads while it can renew it, and ends when it cannot: it never contends again. No fence: a paused
 * process can still send a write after another one took over.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #master: Gauge | undefined
  readonly #slowPaths: Counter | undefined
  #observed: LeaseRecord | undefined
  #fingerprint = ''
  #observedMs = 0
  #reportedLeader = ''
  #lastTryMs = 0
  /** When the watch gave a reason to try that no try has looked into yet. */
  #calledMs: number | undefined
  #onCall = (): void => {}
  /** When the write was sent that made or kept the lease ours. */
  #sent: Moment | undefined

  /** Throws an Error for durations that cannot work, for missing callbacks and for an empty identity. Writes nothing before `run`. */
  constructor(options: LeaderElectorOptions) {
    validate(options)
    this.#options = options
    this.#master = options.metrics?.gauge({
      name: 'leader_election_master_status',
      help:
        'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. ' +
        "'name' is the string used to identify the lease. Please make sure to group by name.",
      labels: ['name'],
    })
    this.#slowPaths = options.metrics?.counter({
      name: 'leader_election_slowpath_total',
      help: "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
      labels: ['name'],
    })
    this.#setMaster(0)
  }

  /** The holder last seen, `""` for nobody. */
  get leader(): string {
    return this.#observed?.holderIdentity ?? ''
  }

  get isLeader(): boolean {
    return this.leader === this.#options.lock.identity
  }

  /**
   * The lease is ours, and would still be if the last renewal had taken effect the moment it was sent. Unlike `isLeader`
   * this turns false by itself when the process was stopped, or the machine was asleep, for longer than its lease; and
   * until the next renewal when the wall clock was set.
   */
  get holdsLease(): boolean {
    const { clock, leaseDurationMs } = this.#options
    return this.isLeader && this.#sent !== undefined && isWithin(this.#sent, leaseDurationMs, clock)
  }

  /** Undefined when well: not the holder, or renewed within lease duration and tolerance. */
  check(toleranceMs: number): Error | undefined {
    if (!this.isLeader) return undefined
    const sinceMs = this.#options.clock.monotonicMs() - this.#observedMs
    if (sinceMs <= this.#options.leaseDurationMs + toleranceMs) return undefined
    return new Error(`failed election to renew leadership on lease ${this.#options.name}`)
  }

  /**
   * Contends, and leads once. Resolves when leadership was lost, or `signal` aborted and (with releaseOnCancel) the work ended.
   * Failed requests are tried again and never reject it. To be called once: a program that lost its lease should exit.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { callbacks, lock, logger } = this.#options
    try {
      if (!(await this.#acquire(signal))) return
      const term = new AbortController()
      const work = Promise.resolve()
        .then(() => callbacks.onStartedLeading(term.signal))
        .catch((error: unknown) => logger.error(error, 'The work of the leader failed'))
      try {
        await this.#renew(signal)
      } finally {
        term.abort(signal.reason)
      }
      if (signal.aborted && this.#options.releaseOnCancel) await this.#releaseAfter(work)
      lock.recordEvent('stopped leading')
    } finally {
      callbacks.onStoppedLeading()
    }
  }

  /** Tries until success (true) or until `signal` aborts. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { lock, logger, clock, retryPeriodMs } = this.#options
    logger.info('Attempting to acquire leader lease...', { lock: lock.description })
    using watch = new LeaseWatch({
      lock,
      clock,
      logger,
      retryPeriodMs,
      onChange: (record) => this.#observeChange(record),
      onEnd: () => this.#call(),
    })
    while (!signal.aborted) {
      const known = this.#fingerprint
      const acquired = await this.#try(signal)
      this.#reportLeader()
      if (acquired) {
        lock.recordEvent('became leader')
        this.#setMaster(1)
        logger.info('Successfully acquired lease', { lock: lock.description })
        return true
      }
      logger.verbosity(4).info('Failed to acquire lease', { lock: lock.description })
      // A change that was not told of: the watch lags or has stalled.
      if (this.#fingerprint !== known) watch.close()
      if (this.#observed !== undefined) watch.open()
      await this.#untilNextTry(signal)
    }
    return false
  }

  /** Until the lease can be had, and at most for a jittered retry period while that is unknown or far. */
  async #untilNextTry(signal: AbortSignal): Promise<void> {
    const { clock, random, retryPeriodMs } = this.#options
    const pollMs = clock.monotonicMs() + jitter(random, retryPeriodMs, JITTER_FACTOR)
    const spreadMs = random.next() * SPREAD_FACTOR * retryPeriodMs
    while (!signal.aborted) {
      const waitMs = this.#nextTryMs(pollMs, spreadMs) - clock.monotonicMs()
      if (waitMs <= 0) return
      const changed = new AbortController()
      this.#onCall = () => changed.abort()
      using either = anySignal([signal, changed.signal])
      await sleep(clock, waitMs, either.signal).catch(() => {})
    }
  }

  #nextTryMs(pollMs: number, spreadMs: number): number {
    if (this.#calledMs !== undefined) return this.#calledMs + spreadMs
    const isForeign = this.leader !== '' && !this.isLeader
    // What the last try found free and did not get is left to the poll.
    if (this.#options.coordinated || !isForeign || this.#expiryMs <= this.#lastTryMs) return pollMs
    const takeoverMs = this.#expiryMs + spreadMs
    // A poll shortly before would be a request more and tell nothing that this try does not.
    return takeoverMs <= pollMs + this.#options.retryPeriodMs ? takeoverMs : pollMs
  }

  #call(): void {
    this.#calledMs = this.#options.clock.monotonicMs()
    this.#onCall()
  }

  /** What the watch tells. Without a holder there is something to gain; where the server chooses, when it chose us. */
  #observeChange(record: LeaseRecord | undefined): void {
    const { coordinated, lock } = this.#options
    if (record !== undefined) this.#observeRead(record)
    const holder = record?.holderIdentity ?? ''
    this.#calledMs = undefined
    if (coordinated ? holder === lock.identity : holder === '') this.#call()
    else this.#onCall()
  }

  /** Renews until a whole renew deadline passes without success, or until `signal` aborts. */
  async #renew(signal: AbortSignal): Promise<void> {
    const { lock, logger, clock, retryPeriodMs } = this.#options
    while (!signal.aborted && (await this.#renewOnce(signal))) {
      logger.verbosity(5).info('Successfully renewed lease', { lock: lock.description })
      await sleep(clock, retryPeriodMs, signal).catch(() => {})
    }
    this.#reportLeader()
    this.#setMaster(0)
    if (!signal.aborted)
      logger.error(new Error('lease was not renewed in time'), 'Failed to renew lease', {
        lock: lock.description,
      })
  }

  async #renewOnce(signal: AbortSignal): Promise<boolean> {
    const { clock, retryPeriodMs, renewDeadlineMs } = this.#options
    const startMs = clock.monotonicMs()
    using deadline = withDeadline(clock, renewDeadlineMs, signal)
    for (let tick = 1; !deadline.signal.aborted; tick++) {
      if (await this.#try(deadline.signal)) return true
      const nextMs = startMs + tick * retryPeriodMs
      const waitMs = Math.max(0, nextMs - clock.monotonicMs())
      // A try that overran its tick is followed at once; of the ticks it missed only one is kept.
      if (waitMs === 0) tick = Math.floor((clock.monotonicMs() - startMs) / retryPeriodMs)
      else await sleep(clock, waitMs, deadline.signal).catch(() => {})
    }
    return false
  }

  /** One try to get or to keep the lease. Never throws: every failure is `false`. */
  async #try(signal: AbortSignal): Promise<boolean> {
    this.#lastTryMs = this.#options.clock.monotonicMs()
    this.#calledMs = undefined
    try {
      return await untilAborted(
        this.#options.coordinated ? this.#tryCoordinated(signal) : this.#tryAcquire(signal),
        signal,
      )
    } catch (error) {
      // Where the server chooses, its controller makes the lease.
      if (!signal.aborted && !(this.#options.coordinated && isNotFound(error)))
        this.#options.logger.error(error, 'Error acquiring or renewing the lease', {
          lock: this.#options.lock.description,
        })
      return false
    }
  }

  async #tryAcquire(signal: AbortSignal): Promise<boolean> {
    const { lock, logger } = this.#options
    // Who leads when the try begins keeps the time of its term, also in a Lease that was deleted or emptied under it.
    const term = this.isLeader && this.#isLeaseValid() ? this.#observed : undefined
    if (term !== undefined) {
      try {
        await this.#write('update', this.#renewed(term), signal)
        return true
      } catch (error) {
        signal.throwIfAborted()
        logger.info('Failed to update lease optimistically, falling back to slow path', {
          lock: lock.description,
          err: errorText(error),
        })
      }
    }

    let read: LeaseRecord
    try {
      read = await lock.read(signal)
    } catch (error) {
      if (!isNotFound(error)) throw error
      try {
        await this.#write('create', term ? this.#renewed(term) : this.#fresh(0), signal)
        return true
      } catch (created) {
        if (!isAlreadyExists(created)) throw created
        // Somebody else was first. What is not read is not watched, and would be found with the next poll.
        read = await lock.read(signal)
      }
    }

    this.#observeRead(read)
    if (read.holderIdentity !== '' && this.#isLeaseValid() && !this.isLeader) {
      logger
        .verbosity(4)
        .info('Lease is held by another and has not yet expired', { holder: read.holderIdentity })
      return false
    }
    const isOurs = this.isLeader
    if (isOurs) this.#slowPaths?.increment({ name: this.#options.name })
    const taken = this.#fresh(read.leaderTransitions + 1)
    const record = isOurs
      ? this.#renewed(read)
      : { ...taken, acquireTime: term?.acquireTime ?? taken.acquireTime }
    await this.#write('update', record, signal)
    return true
  }

  async #tryCoordinated(signal: AbortSignal): Promise<boolean> {
    const { lock } = this.#options
    const read = await lock.read(signal)
    this.#observeRead(read)
    if (!this.#isLeaseValid() || !this.isLeader || read.preferredHolder !== '') return false
    this.#slowPaths?.increment({ name: this.#options.name })
    await this.#write('update', { ...this.#renewed(read), strategy: read.strategy }, signal)
    return true
  }

  async #write(verb: 'create' | 'update', record: LeaseRecord, signal: AbortSignal): Promise<void> {
    const sent = momentOf(this.#options.clock)
    await this.#options.lock[verb](record, signal)
    // Answered too late: nobody waits for it any more.
    if (signal.aborted) return
    this.#observe(record)
    this.#sent = sent
  }

  /** Waits until nobody works as leader any more, then frees the lease. Work that does not end keeps it until it expires. */
  async #releaseAfter(work: Promise<void>): Promise<void> {
    const { clock, renewDeadlineMs, logger, lock } = this.#options
    using patience = withDeadline(clock, renewDeadlineMs)
    try {
      await untilAborted(work, patience.signal)
    } catch {
      logger.info('The work of the leader has not ended, the lease is not released', {
        lock: lock.description,
      })
      return
    }
    await this.#release()
  }

  async #release(): Promise<void> {
    const { clock, renewDeadlineMs, lock, logger } = this.#options
    using deadline = withDeadline(clock, renewDeadlineMs)
    const { signal } = deadline
    try {
      const read = await untilAborted(lock.read(signal), signal)
      // Never clear a lease that names somebody else.
      if (!this.isLeader || read.holderIdentity !== lock.identity) return
      const now = this.#nowText()
      const released: LeaseRecord = {
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: now,
        renewTime: now,
        leaderTransitions: read.leaderTransitions,
        strategy: '',
        preferredHolder: '',
      }
      await untilAborted(lock.update(released, signal), signal)
      this.#observe(released)
      this.#reportLeader()
    } catch (error) {
      logger.error(error, 'Failed to release lease', { lock: lock.description })
    }
  }

  #fresh(leaderTransitions: number): LeaseRecord {
    const now = this.#nowText()
    return {
      holderIdentity: this.#options.lock.identity,
      // Up, where upstream rounds down: else a fraction of a second would let others take the lease from a holder that renews.
      leaseDurationSeconds: Math.ceil(this.#options.leaseDurationMs / 1000),
      acquireTime: now,
      renewTime: now,
      leaderTransitions,
      strategy: '',
      preferredHolder: '',
    }
  }

  #renewed(held: LeaseRecord): LeaseRecord {
    return { ...this.#fresh(held.leaderTransitions), acquireTime: held.acquireTime }
  }

  /** Counts as a change only when the record differs: an unchanged lease must expire. */
  #observeRead(record: LeaseRecord): void {
    if (fingerprintOf(record) === this.#fingerprint) return
    this.#observe(record)
  }

  #observe(record: LeaseRecord): void {
    this.#observed = record
    this.#fingerprint = fingerprintOf(record)
    this.#observedMs = this.#options.clock.monotonicMs()
  }

  #isLeaseValid(): boolean {
    return this.#expiryMs > this.#lastTryMs
  }

  /** By the local time of the last change seen and by the lease's own duration: remote clocks are not trusted. */
  get #expiryMs(): number {
    return this.#observedMs + (this.#observed?.leaseDurationSeconds ?? 0) * 1000
  }

  #nowText(): string {
    return formatMicroTime(this.#options.clock.nowMs())
  }

  #setMaster(value: 0 | 1): void {
    this.#master?.set(value, { name: this.#options.name })
  }

  #reportLeader(): void {
    if (this.leader === this.#reportedLeader) return
    this.#reportedLeader = this.leader
    this.#options.callbacks.onNewLeader?.(this.leader)
  }
}
