import type { Clock, Logger } from '@gyropilot/foundation'

const LEAST_PERIOD_MS = 1_000

/** One handler's part in resyncs. */
export interface ResyncMember {
  /** Resync notifications go to it now. True for everybody before the first check. */
  readonly receives: boolean
}

interface Member {
  receives: boolean
  readonly requestedMs: number
  periodMs: number
  nextMs: number
}

/**
 * When handlers are told again of what is cached. The informer checks at one period, the shortest that was asked for
 * before it started; each handler is due on its own schedule at these checks.
 * Contract: docs/behaviour/runtime/informers.md, Resync.
 */
export class ResyncSchedule {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #members = new Set<Member>()
  #checkPeriodMs: number

  /** `defaultPeriodMs` 0: no resync at all. */
  constructor(clock: Clock, logger: Logger, defaultPeriodMs: number) {
    this.#clock = clock
    this.#logger = logger
    this.#checkPeriodMs = defaultPeriodMs
  }

  get checkPeriodMs(): number {
    return this.#checkPeriodMs
  }

  join(requestedPeriodMs: number, informerStarted: boolean): ResyncMember {
    let requestedMs = requestedPeriodMs
    if (requestedMs > 0 && requestedMs < LEAST_PERIOD_MS) {
      this.#logger.info('A resync period is too short', { requestedMs, usedMs: LEAST_PERIOD_MS })
      requestedMs = LEAST_PERIOD_MS
    }
    if (requestedMs > 0 && requestedMs < this.#checkPeriodMs) {
      if (informerStarted) {
        this.#logger.info('A resync period is shorter than that of the running informer', {
          requestedMs,
          usedMs: this.#checkPeriodMs,
        })
        requestedMs = this.#checkPeriodMs
      } else {
        this.#checkPeriodMs = requestedMs
        for (const member of this.#members) this.#schedule(member)
      }
    }
    const member: Member = { receives: true, requestedMs, periodMs: 0, nextMs: 0 }
    this.#schedule(member)
    this.#members.add(member)
    return member
  }

  leave(member: ResyncMember): void {
    this.#members.delete(member as Member)
  }

  /** Decides who receives the next resync; true when somebody does. */
  check(): boolean {
    const nowMs = this.#clock.monotonicMs()
    let anyDue = false
    for (const member of this.#members) {
      member.receives = member.periodMs > 0 && nowMs >= member.nextMs
      if (!member.receives) continue
      anyDue = true
      member.nextMs = nowMs + member.periodMs
    }
    return anyDue
  }

  #schedule(member: Member): void {
    member.periodMs = this.#periodFor(member.requestedMs)
    member.nextMs = this.#clock.monotonicMs() + member.periodMs
  }

  #periodFor(requestedMs: number): number {
    if (requestedMs === 0) return 0
    if (this.#checkPeriodMs === 0) {
      this.#logger.info('A resync period is ignored: this informer does not resync', {
        requestedMs,
      })
      return 0
    }
    return Math.max(requestedMs, this.#checkPeriodMs)
  }
}
