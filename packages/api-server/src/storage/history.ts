import { firstIndexWhere } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import type { StoreEvent, StoredEntry } from './store.ts'

/** Watches can start this far back at least. */
const WATCH_WINDOW_MS = 75_000
/** Snapshots and continue tokens live this long, as long as the ring is not fuller than `MOST_EVENTS`. */
const SNAPSHOT_WINDOW_MS = 300_000
const FEWEST_EVENTS = 100
/** Beyond this many events only the watch window is kept: a busy collection must not hold minutes of old states in memory. */
const MOST_EVENTS = 102_400
const EVENTS_PER_BLOCK = 1_024

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

/** Both in the order of the revisions. */
interface Block {
  readonly events: LoggedEvent[]
  /** When each of them was. */
  readonly timesMs: number[]
}

/**
 * The recent events of one collection, in revision order. In blocks: a hundred thousand in one array are copied whenever it grows
 * and whenever its dropped front is given back, and a copy of that size is a step of V8's marking in the midst of a write.
 */
export class History {
  /** Only the last one is filled further, and none but the last is empty. */
  readonly #blocks: Block[] = [{ events: [], timesMs: [] }]
  /** Of the first block: the place of the oldest event. */
  #first = 0
  #count = 0
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
    let last = this.#blocks.at(-1)!
    if (last.events.length === EVENTS_PER_BLOCK) {
      last = { events: [], timesMs: [] }
      this.#blocks.push(last)
    }
    last.events.push(event)
    last.timesMs.push(nowMs)
    this.#count++
    this.#trim(nowMs)
  }

  /** Events with a revision above the given one, oldest first. */
  after(revision: number): readonly LoggedEvent[] {
    const block = firstIndexWhere(this.#blocks.length, (at) => {
      const last = this.#blocks[at]!.events.at(-1)
      return last !== undefined && last.revision > revision
    })
    if (block === this.#blocks.length) return []
    const { events } = this.#blocks[block]!
    const place = firstIndexWhere(events.length, (at) => events[at]!.revision > revision)
    const oldest = block === 0 ? Math.max(place, this.#first) : place
    return events
      .slice(oldest)
      .concat(...this.#blocks.slice(block + 1).map((later) => later.events))
  }

  /** Forgets everything up to and including this revision. */
  compact(revision: number): void {
    while (this.#count > 0 && this.#blocks[0]!.events[this.#first]!.revision <= revision)
      this.#dropFirst()
    this.#floor = Math.max(this.#floor, revision)
    this.#giveBack()
  }

  #trim(nowMs: number): void {
    while (this.#count > FEWEST_EVENTS) {
      const ageMs = nowMs - this.#blocks[0]!.timesMs[this.#first]!
      if (ageMs <= WATCH_WINDOW_MS) break
      if (ageMs <= SNAPSHOT_WINDOW_MS && this.#count <= MOST_EVENTS) break
      this.#dropFirst()
    }
  }

  #dropFirst(): void {
    const { events } = this.#blocks[0]!
    this.#floor = Math.max(this.#floor, events[this.#first]!.revision)
    this.#count--
    if (++this.#first < events.length) return
    this.#first = 0
    if (this.#blocks.length > 1) this.#blocks.shift()
    else this.#blocks[0] = { events: [], timesMs: [] }
  }

  /** What was dropped of the first block: a quiet collection would keep these states until the block is full. */
  #giveBack(): void {
    const { events, timesMs } = this.#blocks[0]!
    this.#blocks[0] = { events: events.slice(this.#first), timesMs: timesMs.slice(this.#first) }
    this.#first = 0
  }
}
