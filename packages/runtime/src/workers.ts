import type { Clock, Logger } from '@gyropilot/foundation'
import { TURN_MS, sleep } from '@gyropilot/foundation'
import { nextTurn, yieldIfLong } from './turn.ts'

const RESTART_DELAY_MS = 1_000

/** What workers need of a queue. */
interface Source<Item> {
  /** Undefined: shut down and empty. */
  get(): Promise<Item | undefined>
  done(key: string): void
}

interface WorkersOptions<Item extends { readonly key: string }> {
  readonly count: number
  readonly clock: Clock
  readonly logger: Logger
  /** Whoever aborts it shuts the queue down too. */
  readonly signal: AbortSignal
  readonly queue: Source<Item>
  /** What it throws is a defect: logged, and its worker goes on after a second. Called for what is left of the queue after `signal` aborted too. */
  readonly work: (item: Item) => Promise<void> | void
}

/**
 * The one loop of all controllers: `count` workers hand the items of a queue to `work`, one at a time each, and give them
 * back. Work that never waits for anything real is interrupted every 10 ms, so that timers and sockets have their turn.
 * Resolves when the queue is shut down and empty.
 */
export async function runWorkers<Item extends { readonly key: string }>(
  options: WorkersOptions<Item>,
): Promise<void> {
  const pace = new Pace(options.clock)
  await Promise.all(Array.from({ length: options.count }, () => runUntilStopped(options, pace)))
}

/**
 * When workers give way: in a long turn, and after the first item in 10 ms, however short. Then what came of its writes is read
 * before the next key, which most often is the same one: rules that find their cache behind wait a second.
 */
class Pace {
  readonly #clock: Clock
  #sinceMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#sinceMs = clock.monotonicMs()
  }

  /** Undefined when it is not yet time. */
  giveWay(): Promise<void> | undefined {
    if (this.#clock.monotonicMs() - this.#sinceMs < TURN_MS) return yieldIfLong(this.#clock)
    return this.#wait()
  }

  async #wait(): Promise<void> {
    await nextTurn(this.#clock)
    this.#sinceMs = this.#clock.monotonicMs()
  }
}

async function runUntilStopped<Item extends { readonly key: string }>(
  options: WorkersOptions<Item>,
  pace: Pace,
): Promise<void> {
  const { clock, signal, logger } = options
  for (;;) {
    try {
      await workLoop(options, pace)
    } catch (error) {
      logger.error(error, 'A worker failed')
    }
    try {
      await sleep(clock, RESTART_DELAY_MS, signal)
    } catch {
      return
    }
  }
}

async function workLoop<Item extends { readonly key: string }>(
  { queue, work }: WorkersOptions<Item>,
  pace: Pace,
): Promise<void> {
  for (let item = await queue.get(); item !== undefined; item = await queue.get()) {
    try {
      const working = work(item)
      if (working !== undefined) await working
    } finally {
      queue.done(item.key)
    }
    const yielding = pace.giveWay()
    if (yielding !== undefined) await yielding
  }
}
