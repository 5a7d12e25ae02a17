import type { Clock, Timer } from '../clock.ts'
import { LONG_TURN_MS } from '../clock.ts'
import { Fifo } from '../fifo.ts'

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
const MOST_LATE_PER_TURN = 32

/**
 * What Node takes for `delayMs`: it counts from the millisecond that has begun, and in whole ones, so that what it calls may be up to
 * two early. Who then looks at the time finds that nothing is due. The least is a millisecond for Node, too.
 */
function neverEarly(delayMs: number): number {
  return delayMs === 0 ? 0 : Math.ceil(delayMs) + 1
}

class PendingCall implements Timer {
  callback: (() => void) | undefined
  timeout: NodeJS.Timeout | undefined

  constructor(callback: () => void) {
    this.callback = callback
  }

  cancel(): void {
    this.callback = undefined
    clearTimeout(this.timeout)
  }
}

/**
 * The machine's clock. Made once in a binary and handed down. Pending timers keep the process alive. A timer that is due in a turn
 * of the event loop that is long (`LONG_TURN_MS`) is called in the next one, and so on, in order.
 */
export class SystemClock implements Clock {
  /** Undefined: nobody has asked in this turn. */
  #turnStartMs: number | undefined
  /** Due in turns that were long. */
  readonly #late = new Fifo<PendingCall>()
  /** How many calls of `#callLate` are to come. */
  #lateCalls = 0

  nowMs(): number {
    return Date.now()
  }

  monotonicMs(): number {
    return performance.now()
  }

  turnMs(): number {
    const nowMs = performance.now()
    if (this.#turnStartMs !== undefined) return nowMs - this.#turnStartMs
    this.#turnStartMs = nowMs
    // What is to be done immediately ends each turn. Not unref'd: the loop would wait for a socket first, in the same turn.
    setImmediate(this.#endTurn)
    return 0
  }

  readonly #endTurn = (): void => {
    this.#turnStartMs = undefined
  }

  after(delayMs: number, callback: () => void): Timer {
    const call = new PendingCall(callback)
    this.#arm(call, Math.max(0, delayMs))
    return call
  }

  /** setTimeout wraps beyond 2^31-1 ms: long waits go in legs. */
  #arm(call: PendingCall, delayMs: number): void {
    call.timeout =
      delayMs > LONGEST_TIMEOUT_MS
        ? setTimeout(() => this.#arm(call, delayMs - LONGEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS)
        : setTimeout(this.#fire, neverEarly(delayMs), call)
  }

  /** Node calls all timers that are due in one turn, and a long turn makes many due. */
  readonly #fire = (call: PendingCall): void => {
    if (this.#late.size === 0 && this.turnMs() < LONG_TURN_MS) {
      call.callback?.()
      return
    }
    this.#late.push(call)
    this.#askForTurns()
  }

  #askForTurns(): void {
    for (; this.#lateCalls < Math.min(MOST_LATE_PER_TURN, this.#late.size); this.#lateCalls++)
      setImmediate(this.#callLate, this.#lateCalls === 0)
  }

  /** One at a time: what it does in promises is done before the next looks at the time. */
  readonly #callLate = (isFirst: boolean): void => {
    this.#lateCalls--
    const call = this.turnMs() < LONG_TURN_MS || isFirst ? this.#late.shift() : undefined
    if (this.#lateCalls === 0) this.#askForTurns()
    call?.callback?.()
  }
}
