import type { Clock, Timer } from '@gyropilot/foundation'

export interface HealthOptions {
  readonly clock: Clock
  /** PING after so long without a byte from the server; 0: never. */
  readonly pingAfterIdleMs: number
  /** The connection is given up when the PING is not answered for so long. */
  readonly pingTimeoutMs: number
}

/** What is done to the connection. */
interface HealthActions {
  ping(): void
  /** The PING was not answered. */
  onDead(text: string): void
}

/** What is left of a wait may be none, while the answer lies in the socket and is read in the same turn of the event loop. */
const LEAST_WAIT_MS = 1_000

/**
 * Whether the server is still there while somebody waits for it: a PING after silence must be answered. Silence, and the wait for
 * the answer, go on from one exchange to the next: who gives each of them up after a few seconds would else never be told.
 */
export class ConnectionHealth {
  readonly #options: HealthOptions
  readonly #actions: HealthActions
  #timer: Timer | undefined
  #heardMs: number
  /** When a PING was sent that is not answered. */
  #pingedMs: number | undefined

  constructor(options: HealthOptions, actions: HealthActions) {
    this.#options = options
    this.#actions = actions
    this.#heardMs = options.clock.monotonicMs()
  }

  /** The first exchange of several, or the only one, is under way. */
  begin(): void {
    if (this.#options.pingAfterIdleMs <= 0) return
    if (this.#pingedMs === undefined) this.#watch()
    else this.#await(this.#pingedMs)
  }

  /** No exchange is under way any more. */
  end(): void {
    this.#timer?.cancel()
  }

  heard(): void {
    this.#heardMs = this.#options.clock.monotonicMs()
  }

  /** The PING was. */
  answered(isInUse: boolean): void {
    this.#timer?.cancel()
    this.#pingedMs = undefined
    if (isInUse) this.#watch()
  }

  stop(): void {
    this.#timer?.cancel()
  }

  /** Nobody watches an idle connection: one that died meanwhile is asked at once. */
  #watch(): void {
    const { clock, pingAfterIdleMs } = this.#options
    const leftMs = this.#heardMs + pingAfterIdleMs - clock.monotonicMs()
    if (leftMs <= 0) this.#ping()
    else this.#timer = clock.after(leftMs, () => this.#watch())
  }

  #ping(): void {
    this.#pingedMs = this.#options.clock.monotonicMs()
    this.#await(this.#pingedMs)
    this.#actions.ping()
  }

  #await(pingedMs: number): void {
    const { clock, pingTimeoutMs } = this.#options
    const leftMs = pingedMs + pingTimeoutMs - clock.monotonicMs()
    const waitMs = Math.max(leftMs, Math.min(LEAST_WAIT_MS, pingTimeoutMs))
    this.#timer = clock.after(waitMs, () =>
      this.#actions.onDead(
        `http2: client connection lost: no answer to PING in ${pingTimeoutMs / 1000}s`,
      ),
    )
  }
}
