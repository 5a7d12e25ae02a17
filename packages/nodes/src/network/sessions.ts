/** Who was sent where by a Service with sessionAffinity ClientIP, and for how long that holds. */
import type { Destination } from './service-routes.ts'

/** Beyond it, those whose time is over are let go. */
const MANY_SESSIONS = 1_000

interface Session {
  readonly destination: Destination
  readonly untilMs: number
}

interface Asked {
  /** Of the Service's port and of the client. */
  readonly key: string
  readonly destinations: readonly Destination[]
  readonly timeoutMs: number
  readonly nowMs: number
}

export class Sessions {
  readonly #sessions = new Map<string, Session>()

  /** Where the client was sent last, unless that is too long ago or no longer there; else `draw` chooses. Every visit begins the time anew. */
  destination(
    { key, destinations, timeoutMs, nowMs }: Asked,
    draw: () => Destination,
  ): Destination {
    const known = this.#sessions.get(key)
    const last = known && known.untilMs > nowMs ? known.destination : undefined
    const destination =
      destinations.find(({ address, port }) => address === last?.address && port === last.port) ??
      draw()
    if (this.#sessions.size >= MANY_SESSIONS) this.#letGo(nowMs)
    this.#sessions.set(key, { destination, untilMs: nowMs + timeoutMs })
    return destination
  }

  #letGo(nowMs: number): void {
    for (const [key, { untilMs }] of this.#sessions)
      if (untilMs <= nowMs) this.#sessions.delete(key)
  }
}
