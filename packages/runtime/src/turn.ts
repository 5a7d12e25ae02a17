import type { Clock } from '@gyropilot/foundation'
import { sleep } from '@gyropilot/foundation'

/** Long enough to be worth a timer, short enough that a lease is renewed and a socket read in between. */
const TURN_MS = 10

/**
 * Keeps loops that never wait for anything real from holding up the process: whoever calls `yieldIfLong` between pieces of
 * work gives timers and sockets a turn after 10 ms. Loops that run side by side share one: each with its own would go on for
 * 10 ms more when it is woken, one after the other, and sockets would wait for all of them. On a virtual clock no time passes in between, so nothing changes there.
 */
export class Turn {
  readonly #clock: Clock
  #startMs: number
  #yielding: Promise<void> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startMs = clock.monotonicMs()
  }

  /** Undefined when it is not yet time. */
  yieldIfLong(): Promise<void> | undefined {
    if (this.#clock.monotonicMs() - this.#startMs < TURN_MS) return undefined
    this.#yielding ??= this.#yield()
    return this.#yielding
  }

  async #yield(): Promise<void> {
    await sleep(this.#clock, 0)
    this.#startMs = this.#clock.monotonicMs()
    this.#yielding = undefined
  }
}

/** How often the time is looked at. */
const ITEMS_PER_LOOK = 64

/** Calls `work` for each item in order, in as many turns as it takes. */
export async function inTurns<T>(
  clock: Clock,
  items: Iterable<T>,
  work: (item: T) => void,
): Promise<void> {
  const turn = new Turn(clock)
  let done = 0
  for (const item of items) {
    work(item)
    if (++done % ITEMS_PER_LOOK !== 0) continue
    const yielding = turn.yieldIfLong()
    if (yielding !== undefined) await yielding
  }
}
