import { compareStrings, firstIndexWhere } from '@gyropilot/foundation'
import type { StoredEntry } from './store.ts'

/** Blocks split when they reach this size: an insert moves at most this many pointers. */
const BLOCK_LIMIT = 512

/** Entries by key and in key order: a list of sorted blocks beside a hash map. */
export class SortedEntries {
  readonly #byKey = new Map<string, StoredEntry>()
  readonly #blocks: StoredEntry[][] = []

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): StoredEntry | undefined {
    return this.#byKey.get(key)
  }

  set(entry: StoredEntry): void {
    const known = this.#byKey.has(entry.key)
    this.#byKey.set(entry.key, entry)
    if (this.#blocks.length === 0) {
      this.#blocks.push([entry])
      return
    }
    const blockIndex = this.#blockOf(entry.key)
    const block = this.#blocks[blockIndex]!
    const index = lowerBound(block, entry.key)
    if (known) {
      block[index] = entry
      return
    }
    block.splice(index, 0, entry)
    if (block.length > BLOCK_LIMIT)
      this.#blocks.splice(blockIndex + 1, 0, block.splice(block.length >> 1))
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return
    const blockIndex = this.#blockOf(key)
    const block = this.#blocks[blockIndex]!
    block.splice(lowerBound(block, key), 1)
    if (block.length === 0) this.#blocks.splice(blockIndex, 1)
  }

  /** All entries whose key starts with `prefix`, in order. A new array. */
  range(prefix: string): StoredEntry[] {
    if (prefix === '')
      return this.#blocks.length === 1 ? this.#blocks[0]!.slice() : this.#blocks.flat()
    const found: StoredEntry[] = []
    if (this.#blocks.length === 0) return found
    for (let b = this.#blockOf(prefix); b < this.#blocks.length; b++) {
      const block = this.#blocks[b]!
      for (let i = lowerBound(block, prefix); i < block.length; i++) {
        if (!block[i]!.key.startsWith(prefix)) return found
        found.push(block[i]!)
      }
    }
    return found
  }

  /** The entries from `start` on whose key starts with `prefix`, in order: as many as are asked for, in one turn. */
  *from(start: string, prefix: string): Generator<StoredEntry> {
    if (this.#blocks.length === 0) return
    for (let b = this.#blockOf(start); b < this.#blocks.length; b++) {
      const block = this.#blocks[b]!
      for (let i = lowerBound(block, start); i < block.length; i++) {
        if (!block[i]!.key.startsWith(prefix)) return
        yield block[i]!
      }
    }
  }

  /** How many `from` yields to its end. */
  countFrom(start: string, prefix: string): number {
    // No key ends a namespace with another character than `/`, whose successor is `0`.
    const end = prefix === '' ? this.size : this.#rank(`${prefix.slice(0, -1)}0`)
    return end - this.#rank(start)
  }

  /** How many keys are below `key`. */
  #rank(key: string): number {
    if (this.#blocks.length === 0) return 0
    const blockIndex = this.#blockOf(key)
    let rank = lowerBound(this.#blocks[blockIndex]!, key)
    for (let b = 0; b < blockIndex; b++) rank += this.#blocks[b]!.length
    return rank
  }

  /** The last block whose first key is not above `key`; the first one where all are. */
  #blockOf(key: string): number {
    const blocks = this.#blocks
    const after = firstIndexWhere(
      blocks.length,
      (at) => compareStrings(blocks[at]![0]!.key, key) > 0,
    )
    return Math.max(0, after - 1)
  }
}

/** Index of the first entry whose key is not below `key`. */
function lowerBound(entries: readonly StoredEntry[], key: string): number {
  return firstIndexWhere(entries.length, (at) => compareStrings(entries[at]!.key, key) >= 0)
}
