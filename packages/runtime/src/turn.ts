import type { Clock } from '@gyropilot/foundation'
import { Fifo, TURN_MS } from '@gyropilot/foundation'

/** Between the end of a wait and the work that waited, through the promises of who asked. */
const STEPS_TO_WORK = 8
const NOW = Promise.resolve()

/** The loops of one process that gave the turn up, in the order in which they did: each goes on in a turn that has time left. */
class WaitingLoops {
  readonly #clock: Clock
  readonly #waiting = new Fifo<() => void>()
  #isDue = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#wakeInNextTurn()
    })
  }

  #wakeInNextTurn(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#clock.after(0, () => void this.#wake())
  }

  /** One after the other: woken together each would do a piece of work before it asks, and there are as many as controllers and handlers. */
  async #wake(): Promise<void> {
    do {
      this.#waiting.shift()?.()
      for (let step = 0; step < STEPS_TO_WORK; step++) await NOW
    } while (this.#waiting.size > 0 && this.#clock.turnMs() < TURN_MS)
    this.#isDue = false
    if (this.#waiting.size > 0) this.#wakeInNextTurn()
  }
}

const loops = new WeakMap<Clock, WaitingLoops>()

/**
 * Keeps loops that never wait for anything real from holding up the process: whoever awaits this between pieces of work gives
 * timers and sockets a turn when that of the event loop, and of all loops of the process in it, has gone on for 10 ms. Undefined
 * when it is not yet time. On a virtual clock no time passes in between, so nothing changes there.
 */
export function yieldIfLong(clock: Clock): Promise<void> | undefined {
  return clock.turnMs() < TURN_MS ? undefined : nextTurn(clock)
}

/** Gives timers and sockets a turn, and those who wait for one already. */
export function nextTurn(clock: Clock): Promise<void> {
  let waiting = loops.get(clock)
  if (waiting === undefined) loops.set(clock, (waiting = new WaitingLoops(clock)))
  return waiting.nextTurn()
}

/** How often the time is looked at. */
const ITEMS_PER_LOOK = 64

/** Calls `work` for each item in order, in as many turns as it takes. */
export async function inTurns<T>(
  clock: Clock,
  items: Iterable<T>,
  work: (item: T) => void,
): Promise<void> {
  let done = 0
  for (const item of items) {
    work(item)
    if (++done % ITEMS_PER_LOOK !== 0) continue
    const yielding = yieldIfLong(clock)
    if (yielding !== undefined) await yielding
  }
}
