import type { StoreEvent, StoredEntry } from './store.ts'

/** Watches can start this far back at least. */
const WATCH_WINDOW_MS = 75_000
/** Snapshots and continue tokens live this long, as long as the ring is not fuller than `MOST_EVENTS`. */
const SNAPSHOT_WINDOW_MS = 300_000
const FEWEST_EVENTS = 100
/** Beyond this many events only the watch window is kept: a busy collection must not hold minutes of old states in memory. */
const MOST_EVENTS = 102_400
/** Dropped slots at the front are given back in strides of this size. */
const STRIDE = 1024

export interface LoggedEvent extends StoreEvent {
  /** The entry before the event. */
  readonly before: StoredEntry | undefined
  readonly atMs: number
}

/** The recent events of one collection, in revision order. */
export class History {
  #events: LoggedEvent[] = []
  #first = 0
  #floor: number

  /** @param floor the revision from which on the history is complete. */
  constructor(floor: number) {
    this.#floor = floor
  }

  /** Revisions at or above this one can be watched from and listed at. */
  get floor(): number {
    return this.#floor
  }

  append(event: LoggedEvent): void {
    this.#events.push(event)
    this.#trim(event.atMs)
  }

  /** Events with a revision above the given one, oldest first. */
  after(revision: number): readonly LoggedEvent[] {
    let low = this.#first
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#events[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low === this.#events.length ? [] : this.#events.slice(low)
  }

  /** Forgets everything up to and including this revision. */
  compact(revision: number): void {
    while (this.#first < this.#events.length && this.#events[this.#first]!.revision <= revision)
      this.#dropFirst()
    this.#floor = Math.max(this.#floor, revision)
    this.#giveBack()
  }

  #trim(nowMs: number): void {
    for (;;) {
      const count = this.#events.length - this.#first
      if (count <= FEWEST_EVENTS) break
      const ageMs = nowMs - this.#events[this.#first]!.atMs
      if (ageMs <= WATCH_WINDOW_MS) break
      if (ageMs <= SNAPSHOT_WINDOW_MS && count <= MOST_EVENTS) break
      this.#dropFirst()
    }
    if (this.#first >= STRIDE) this.#giveBack()
  }

  #dropFirst(): void {
    this.#floor = Math.max(this.#floor, this.#events[this.#first]!.revision)
    this.#first++
  }

  #giveBack(): void {
    if (this.#first === 0) return
    this.#events = this.#events.slice(this.#first)
    this.#first = 0
  }
}
