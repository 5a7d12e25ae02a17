/** A binary min-heap. `before(a, b) < 0` puts a first; equal elements leave in no particular order, so give a total order. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #compare: (a: T, b: T) => number

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    const items = this.#items
    let index = items.length
    items.push(item)
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#compare(item, items[parent]!) >= 0) break
      items[index] = items[parent]!
      index = parent
    }
    items[index] = item
  }

  pop(): T | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    if (items.length > 0 && last !== undefined) this.#sink(last, 0)
    return top
  }

  /** Takes out what `keeps` refuses, in one pass over all. */
  retain(keeps: (item: T) => boolean): void {
    const items = this.#items
    let kept = 0
    for (const item of items) if (keeps(item)) items[kept++] = item
    items.length = kept
    for (let index = (kept >> 1) - 1; index >= 0; index--) this.#sink(items[index]!, index)
  }

  /** Puts the item where it belongs at or below `from`, whose place is free. */
  #sink(item: T, from: number): void {
    const items = this.#items
    let index = from
    for (;;) {
      let child = 2 * index + 1
      if (child >= items.length) break
      if (child + 1 < items.length && this.#compare(items[child + 1]!, items[child]!) < 0) child++
      if (this.#compare(item, items[child]!) <= 0) break
      items[index] = items[child]!
      index = child
    }
    items[index] = item
  }
}
