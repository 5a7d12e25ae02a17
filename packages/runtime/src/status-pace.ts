/**
 * Syncs of large owners come at a pace. While thousands of pods start or end, each look at one of them would count all the others
 * for a status that the next look makes old: the work of one change grows with the owner, and each status is a write that every
 * watch of it is told of.
 */
import type { Clock } from '@gyropilot/foundation'
import type { Expectations } from './expectations.ts'

/** 250 ms for 5,000 objects. */
const REST_PER_OBJECT_MS = 0.05
export const LONGEST_REST_MS = 250
/** Owners of fewer than 400 objects are never kept waiting. */
const SHORTEST_REST_MS = 20

interface Rest {
  readonly untilMs: number
  /** What was asked for had not all come back when it began. */
  readonly awaits: boolean
}

/** What a sync has written: anything but the status is `action`. */
export type SyncWrites = 'nothing' | 'status' | 'action'

/**
 * A key rests after a sync that wrote its status alone, or for some owners nothing: it had nothing to do but to count. The rest ends
 * early when what the key waited for has come, as there may be work then. After a sync that made or deleted something there is none.
 */
export class StatusPace {
  readonly #clock: Clock
  readonly #expectations: Expectations | undefined
  readonly #restsWithoutWrites: boolean
  /** Times are those of the monotonic clock. */
  readonly #rests = new Map<string, Rest>()

  constructor(clock: Clock, expectations?: Expectations, restsWithoutWrites = false) {
    this.#clock = clock
    this.#restsWithoutWrites = restsWithoutWrites
    this.#expectations = expectations
  }

  /** How long the key is to be left alone. 0: it may be looked at, and its rest is over. */
  restMs(key: string): number {
    const rest = this.#rests.get(key)
    if (rest === undefined) return 0
    const leftMs = rest.untilMs - this.#clock.monotonicMs()
    const hasCome = rest.awaits && !this.#awaits(key)
    if (leftMs > 0 && !hasCome) return leftMs
    this.#rests.delete(key)
    return 0
  }

  /** A sync of the key, which took so many objects into account, has ended well. */
  synced(key: string, objects: number, writes: SyncWrites): void {
    const restMs = Math.min(objects * REST_PER_OBJECT_MS, LONGEST_REST_MS)
    if (writes === 'action' || restMs < SHORTEST_REST_MS) return
    if (writes === 'nothing' && !this.#restsWithoutWrites) return
    const untilMs = this.#clock.monotonicMs() + restMs
    this.#rests.set(key, { untilMs, awaits: this.#awaits(key) })
  }

  forget(key: string): void {
    this.#rests.delete(key)
  }

  #awaits(key: string): boolean {
    return this.#expectations?.satisfied(key) === false
  }
}
