import type { Stored } from '@gyropilot/schema/objects'
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

/** Hundreds of thousands are kept: what the entries tell is not kept beside them. */
export class LoggedEvent implements StoreEvent {
  readonly collection: string
  readonly revision: number
  readonly object: Stored
  readonly entry: StoredEntry | undefined
  /** The entry before the event. */
  readonly before: StoredEntry | undefined

  /** At least one of the entries is there; `object` is that of `entry`, or the last state. */
  constructor(of: Pick<LoggedEvent, 'collection' | 'revision' | 'object' | 'entry' | 'before'>) {
    this.collection = of.collection
    this.revision = of.revision
    this.object = of.object
    this.entry = of.entry
    this.before = of.before
  }

  get type(): StoreEvent['type'] {
    if (this.entry === undefined) return 'deleted'
    return this.before === undefined ? 'created' : 'updated'
  }

  get key(): string {
    return (this.entry ?? this.before)!.key
  }

  get previous(): Stored | undefined {
    return this.before?.object
  }
}

/** The recent events of one collection, in revision order. */
export class History {
  #events: LoggedEvent[] = []
  /** When each of them was. */
  #timesMs: number[] = []
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

  append(event: LoggedEvent, nowMs: number): void {
    this.#events.push(event)
    this.#timesMs.push(nowMs)
    this.#trim(nowMs)
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
      const ageMs = nowMs - this.#timesMs[this.#first]!
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
    this.#timesMs = this.#timesMs.slice(this.#first)
    this.#first = 0
  }
}
