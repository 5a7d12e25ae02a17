/** Keeps the last `capacity` items: adding to a full one drops the oldest. */
export class RingBuffer<T> {
  readonly capacity: number
  readonly #slots: T[] = []
  #oldest = 0

  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1)
      throw new RangeError(`capacity must be a positive integer, not ${capacity}`)
    this.capacity = capacity
  }

  get size(): number {
    return this.#slots.length
  }

  /** Returns the item that had to go. */
  push(item: T): T | undefined {
    if (this.#slots.length < this.capacity) {
      this.#slots.push(item)
      return undefined
    }
    const dropped = this.#slots[this.#oldest]
    this.#slots[this.#oldest] = item
    this.#oldest = (this.#oldest + 1) % this.capacity
    return dropped
  }

  /** Oldest first. */
  toArray(): T[] {
    return [...this.#slots.slice(this.#oldest), ...this.#slots.slice(0, this.#oldest)]
  }

  clear(): void {
    this.#slots.length = 0
    this.#oldest = 0
  }
}
