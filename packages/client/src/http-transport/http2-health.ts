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

/** Whether the server is still there while somebody waits for it: a PING after silence must be answered. */
export class ConnectionHealth {
  readonly #options: HealthOptions
  readonly #actions: HealthActions
  #timer: Timer | undefined
  #heard = false
  #lastUsedMs: number

  constructor(options: HealthOptions, actions: HealthActions) {
    this.#options = options
    this.#actions = actions
    this.#lastUsedMs = options.clock.monotonicMs()
  }

  /** The first exchange of several, or the only one, is under way. */
  begin(): void {
    const { clock, pingAfterIdleMs } = this.#options
    if (pingAfterIdleMs <= 0) return
    // Nobody listened while it was idle: a connection that died meanwhile is found now, not half a minute later.
    if (clock.monotonicMs() - this.#lastUsedMs >= pingAfterIdleMs) this.#ping()
    else this.#watch()
  }

  /** No exchange is under way any more. */
  end(): void {
    this.#lastUsedMs = this.#options.clock.monotonicMs()
    this.#timer?.cancel()
  }

  heard(): void {
    this.#heard = true
  }

  /** The PING was. */
  answered(isInUse: boolean): void {
    this.#timer?.cancel()
    if (isInUse) this.#watch()
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #watch(): void {
    this.#heard = false
    this.#timer = this.#options.clock.after(this.#options.pingAfterIdleMs, () => {
      if (this.#heard) this.#watch()
      else this.#ping()
    })
  }

  #ping(): void {
    const { clock, pingTimeoutMs } = this.#options
    this.#timer = clock.after(pingTimeoutMs, () =>
      this.#actions.onDead(
        `http2: client connection lost: no answer to PING in ${pingTimeoutMs / 1000}s`,
      ),
    )
    this.#actions.ping()
  }
}
