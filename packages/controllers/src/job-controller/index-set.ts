import { firstIndexWhere } from '@gyropilot/foundation'

/**
 * Completion indexes, as runs: what an operation costs hangs on the number of runs, never on that of completions, so that a
 * Job of 100,000 completions is no burden while its indexes succeed about in order.
 * Contract: docs/behaviour/controllers/job-controller.md, Status and conditions, Edge cases.
 */
export class IndexSet {
  static readonly empty = new IndexSet([])

  /** Runs as first, last, first, last, ...: ascending, with a gap between two runs. */
  readonly #bounds: readonly number[]
  readonly size: number
  #text: string | undefined

  private constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    let size = 0
    for (let at = 0; at < bounds.length; at += 2) size += bounds[at + 1]! - bounds[at]! + 1
    this.size = size
  }

  /**
   * `1,3-5`. Parts that cannot be read are skipped; a part that begins at `limit` or above ends the text, and runs are cut
   * there.
   */
  static parse(text: string | undefined, limit: number): IndexSet {
    if (!text) return IndexSet.empty
    const runs: Run[] = []
    for (const part of text.split(',')) {
      const found = /^(\d+)(?:-(\d+))?$/.exec(part)
      if (found === null) continue
      const first = Number(found[1])
      if (first >= limit) break
      const last = Math.min(Number(found[2] ?? first), limit - 1)
      if (last >= first) runs.push([first, last])
    }
    return IndexSet.#ofRuns(runs)
  }

  /** In any order, repeated ones counted once. */
  static of(indexes: Iterable<number>): IndexSet {
    return IndexSet.#ofRuns(Array.from(indexes, (index) => [index, index]))
  }

  static #ofRuns(runs: readonly Run[]): IndexSet {
    const bounds: number[] = []
    for (const [first, last] of runs.toSorted((a, b) => a[0] - b[0])) append(bounds, first, last)
    return bounds.length === 0 ? IndexSet.empty : new IndexSet(bounds)
  }

  has(index: number): boolean {
    const first = this.#bounds[this.#runFrom(index)]
    return first !== undefined && first <= index
  }

  union(other: IndexSet): IndexSet {
    if (other.size === 0) return this
    if (this.size === 0) return other
    const bounds: number[] = []
    const [left, right] = [this.#bounds, other.#bounds]
    for (let i = 0, j = 0; i < left.length || j < right.length;) {
      if (j >= right.length || (i < left.length && left[i]! <= right[j]!)) {
        append(bounds, left[i]!, left[i + 1]!)
        i += 2
      } else {
        append(bounds, right[j]!, right[j + 1]!)
        j += 2
      }
    }
    return new IndexSet(bounds)
  }

  /** How many indexes both have. */
  overlap(other: IndexSet): number {
    const [left, right] = [this.#bounds, other.#bounds]
    let count = 0
    for (let i = 0, j = 0; i < left.length && j < right.length;) {
      const last = Math.min(left[i + 1]!, right[j + 1]!)
      count += Math.max(0, last - Math.max(left[i]!, right[j]!) + 1)
      if (left[i + 1] === last) i += 2
      else j += 2
    }
    return count
  }

  /** The lowest `count` indexes below `limit` that are not in the set. */
  missing(count: number, limit: number): readonly number[] {
    const found: number[] = []
    for (let index = 0, at = 0; found.length < count && index < limit; index++) {
      if (index !== this.#bounds[at]) found.push(index)
      else {
        index = this.#bounds[at + 1]!
        at += 2
      }
    }
    return found
  }

  /** Runs of three and more as `a-b`. */
  toString(): string {
    this.#text ??= textOf(this.#bounds)
    return this.#text
  }

  /** Where the first run that ends at `index` or later begins among the bounds. */
  #runFrom(index: number): number {
    const bounds = this.#bounds
    return 2 * firstIndexWhere(bounds.length / 2, (run) => bounds[2 * run + 1]! >= index)
  }
}

type Run = readonly [number, number]

/** Runs come in the order of their first index; those that meet become one. */
function append(bounds: number[], first: number, last: number): void {
  const end = bounds.at(-1)
  if (end === undefined || first > end + 1) bounds.push(first, last)
  else if (last > end) bounds[bounds.length - 1] = last
}

function textOf(bounds: readonly number[]): string {
  const parts: string[] = []
  for (let at = 0; at < bounds.length; at += 2) {
    const first = bounds[at]!
    const last = bounds[at + 1]!
    if (last - first >= 2) parts.push(`${first}-${last}`)
    else if (last > first) parts.push(`${first}`, `${last}`)
    else parts.push(`${first}`)
  }
  return parts.join(',')
}
