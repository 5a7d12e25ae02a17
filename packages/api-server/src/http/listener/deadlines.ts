/** How long the listener waits for its peers: whoever is slower than this loses the connection, and cannot fill the server with half-open work. */
import type { ServerHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'

export interface Deadlines {
  /** From the start of a connection to the first complete head of a request; also for the TLS handshake. */
  readonly headersMs: number
  /** From a request's head to the end of its answer, unless it is a stream or passed on to others. A minute and a half: the pipeline answers 504 before. */
  readonly requestMs: number
  /** A silent HTTP/2 connection is asked for a sign of life after this, and given up after this again. */
  readonly idleMs: number
}

export const DEADLINES: Deadlines = { headersMs: 30_000, requestMs: 90_000, idleMs: 90_000 }

/** An HTTP/1.1 connection that never sends a request. Node's own bounds begin with the first byte, and answer 408 before this. */
export function expectFirstRequest(socket: Duplex, { headersMs }: Deadlines): () => void {
  const timer = setTimeout(() => socket.destroy(), 2 * headersMs)
  const cancel = (): void => clearTimeout(timer)
  socket.once('close', cancel)
  return cancel
}

export function watchSession(session: ServerHttp2Session, { headersMs, idleMs }: Deadlines): void {
  const timer = setTimeout(() => session.destroy(), headersMs)
  const cancel = (): void => clearTimeout(timer)
  session.once('stream', cancel)
  session.once('close', cancel)
  session.setTimeout(idleMs, () => {
    const giveUp = setTimeout(() => session.destroy(), idleMs)
    const stay = (): void => clearTimeout(giveUp)
    session.once('close', stay)
    session.ping(() => {
      stay()
      session.removeListener('close', stay)
      // A silence is told of once: the next one has to be asked for.
      session.setTimeout(idleMs)
    })
  })
}

interface Exchange {
  readonly endsAtMs: number
  readonly end: () => void
}

/** Ends exchanges that take too long. All have the same time, so that one timer is enough for those that are open. */
export class ExchangeBounds {
  readonly #requestMs: number
  /** In the order in which they began, which is that in which their time is over. */
  readonly #open = new Set<Exchange>()
  #timer: NodeJS.Timeout | undefined

  constructor({ requestMs }: Deadlines) {
    this.#requestMs = requestMs
  }

  /** Call the result when the exchange is over or has become a stream. */
  begin(end: () => void): () => void {
    const exchange = { endsAtMs: performance.now() + this.#requestMs, end }
    this.#open.add(exchange)
    if (this.#timer === undefined) this.#wait(this.#requestMs)
    return () => this.#open.delete(exchange)
  }

  /** What is open keeps the process alive by its socket. */
  #wait(forMs: number): void {
    this.#timer = setTimeout(() => this.#endLate(), forMs).unref()
  }

  #endLate(): void {
    this.#timer = undefined
    const nowMs = performance.now()
    for (const exchange of this.#open) {
      if (exchange.endsAtMs > nowMs) return this.#wait(exchange.endsAtMs - nowMs)
      this.#open.delete(exchange)
      exchange.end()
    }
  }
}
