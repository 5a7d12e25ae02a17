/** The order of one manager's writes. Contract: docs/behaviour/runtime/manager.md, Client identities. */
import type { Clock, Timer } from '@gyropilot/foundation'
import type { Transport, TransportRequest, TransportResponse } from '@gyropilot/client'

/** Due writes follow each other: so long after one the next is waited for. */
const BETWEEN_MS = 10
/** While due ones come, so long after another write has begun the next may: forty a second, where the due ones come by the thousand. */
const PACE_MS = 25

/**
 * Writes that are due (a Job whose minute has come) are late for as long as they wait, and a server that takes the others of the same
 * process beside them takes longer for them. So while due ones come, the others of all controllers begin one after the other, in their
 * order and at a pace: slower, and never not at all, whatever becomes of one of them. Reads always pass. With nothing due nothing waits.
 */
export class DueFirst {
  readonly #clock: Clock
  /** Others that wait for their turn, the first first. */
  readonly #waiting = new Set<() => void>()
  #due = 0
  /** Ends the burst. */
  #quiet: Timer | undefined
  /** Brings the next turn. */
  #pace: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Of one controller: all that are made here are in one order. */
  transport(inner: Transport): Transport {
    return {
      send: (request) => {
        if (request.due === true) return this.#sendDue(inner, request)
        return this.#isBurst && isWrite(request)
          ? this.#sendInTurn(inner, request)
          : inner.send(request)
      },
      close: () => inner.close(),
    }
  }

  get #isBurst(): boolean {
    return this.#due > 0 || this.#quiet !== undefined
  }

  async #sendDue(inner: Transport, request: TransportRequest): Promise<TransportResponse> {
    this.#due++
    this.#quiet?.cancel()
    this.#quiet = undefined
    try {
      return await inner.send(request)
    } finally {
      if (--this.#due === 0) this.#quiet = this.#clock.after(BETWEEN_MS, () => this.#end())
    }
  }

  #end(): void {
    this.#quiet = undefined
    this.#pace?.cancel()
    this.#pace = undefined
    for (const go of this.#waiting) this.#letGo(go)
  }

  async #sendInTurn(inner: Transport, request: TransportRequest): Promise<TransportResponse> {
    if (this.#pace === undefined) this.#startPace()
    else await this.#turn(request.signal)
    return inner.send(request)
  }

  #startPace(): void {
    this.#pace = this.#clock.after(PACE_MS, () => {
      this.#pace = undefined
      const [first] = this.#waiting
      if (first === undefined) return
      this.#startPace()
      this.#letGo(first)
    })
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      // Who gives up goes at once: the transport says so in its words.
      const giveUp = (): void => this.#letGo(go)
      signal?.addEventListener('abort', giveUp)
      this.#waiting.add(go)
    })
  }

  #letGo(go: () => void): void {
    if (this.#waiting.delete(go)) go()
  }
}

function isWrite({ method }: TransportRequest): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}
