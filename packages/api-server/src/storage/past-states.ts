import { compareStrings } from '@gyropilot/foundation'
import type { History } from './history.ts'
import { SortedEntries } from './sorted-entries.ts'
import type { StoredEntry } from './store.ts'

/** Revisions that are paged through at the same time, per collection. One more makes the oldest be computed anew. */
const MOST_PASTS = 8

/** A collection as it was at a revision: the present, with what happened since undone. */
class PastState {
  readonly revision: number
  readonly #now: SortedEntries
  /** Keys that changed since. */
  readonly #changed = new Set<string>()
  /** The entries that these keys had. */
  readonly #before = new SortedEntries()
  #seen: number

  constructor(revision: number, now: SortedEntries) {
    this.revision = revision
    this.#seen = revision
    this.#now = now
  }

  /** Undoes what happened since it was last asked for: the first change of a key says what it was. */
  advance(history: History): void {
    for (const { key, before, revision } of history.after(this.#seen)) {
      this.#seen = revision
      if (this.#changed.has(key)) continue
      this.#changed.add(key)
      if (before !== undefined) this.#before.set(before)
    }
  }

  *from(start: string, prefix: string): Generator<StoredEntry> {
    const before = this.#before.from(start, prefix)
    let old = before.next()
    for (const entry of this.#now.from(start, prefix)) {
      if (this.#changed.has(entry.key)) continue
      for (; old.done !== true && compareStrings(old.value.key, entry.key) < 0; old = before.next())
        yield old.value
      yield entry
    }
    for (; old.done !== true; old = before.next()) yield old.value
  }

  countFrom(start: string, prefix: string): number {
    let count = this.#now.countFrom(start, prefix) + this.#before.countFrom(start, prefix)
    for (const key of this.#changed) {
      if (!key.startsWith(prefix) || compareStrings(key, start) < 0) continue
      if (this.#now.get(key) !== undefined) count--
    }
    return count
  }
}

/** The revisions of one collection that are being paged through: a page costs what is on it and what happened since the last. */
export class PastStates {
  readonly #now: SortedEntries
  readonly #history: History
  /** The one that was asked for last stands last. */
  #pasts: PastState[] = []

  constructor(now: SortedEntries, history: History) {
    this.#now = now
    this.#history = history
  }

  /** The revision must not be below the floor of the history. Read what is answered in the same turn. */
  at(revision: number): Pick<SortedEntries, 'from' | 'countFrom'> {
    const known = this.#pasts.find((past) => past.revision === revision)
    if (known === undefined && this.#history.after(revision).length === 0) return this.#now
    const past = known ?? new PastState(revision, this.#now)
    past.advance(this.#history)
    this.#pasts = [...this.#pasts.filter((other) => other !== past), past].slice(-MOST_PASTS)
    return past
  }

  /** Gives back what is kept for revisions below this one. */
  forgetBelow(revision: number): void {
    this.#pasts = this.#pasts.filter((past) => past.revision >= revision)
  }
}
