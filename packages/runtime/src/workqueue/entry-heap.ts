import { Heap } from '@gyropilot/foundation'

/** Replaced entries so few are not worth a look at all. */
const FEW_ENTRIES = 64

/** Whose entries are in the heap: what is not in `current` under its key any more was replaced. */
interface EntryHeapOptions<Entry> {
  readonly current: ReadonlyMap<string, Entry>
  readonly compare: (a: Entry, b: Entry) => number
}

/**
 * A heap of entries that others may replace before their turn. Those are never given out, and never more than half of it: a key that is
 * due in a day and has an event each second would else leave one for each of them until the day is over.
 */
export class EntryHeap<Entry extends { readonly key: string }> {
  readonly #current: ReadonlyMap<string, Entry>
  readonly #heap: Heap<Entry>

  constructor({ current, compare }: EntryHeapOptions<Entry>) {
    this.#current = current
    this.#heap = new Heap(compare)
  }

  /** With those that were replaced and are not gone yet. */
  get size(): number {
    return this.#heap.size
  }

  push(entry: Entry): void {
    this.#heap.push(entry)
    if (this.#heap.size > 2 * this.#current.size + FEW_ENTRIES)
      this.#heap.retain((held) => this.#isCurrent(held))
  }

  /** The first that was not replaced. */
  peek(): Entry | undefined {
    for (let first = this.#heap.peek(); first !== undefined; first = this.#heap.peek()) {
      if (this.#isCurrent(first)) return first
      this.#heap.pop()
    }
    return undefined
  }

  pop(): Entry | undefined {
    return this.peek() && this.#heap.pop()
  }

  #isCurrent(entry: Entry): boolean {
    return this.#current.get(entry.key) === entry
  }
}
