/** Which of very many slots are taken: a bit each, with memory for no more than the highest one ever taken. */
export class Slots {
  /** How many there are: up to 2 ** 32. */
  readonly size: number
  #words = new Uint32Array(0)
  #taken = 0

  constructor(size: number) {
    this.size = size
  }

  get taken(): number {
    return this.#taken
  }

  has(slot: number): boolean {
    return ((this.#words[wordOf(slot)] ?? 0) & bitOf(slot)) !== 0
  }

  /** Takes it. Answers whether it was free. */
  take(slot: number): boolean {
    if (this.has(slot)) return false
    const word = wordOf(slot)
    this.#growTo(word)
    this.#words[word]! |= bitOf(slot)
    this.#taken += 1
    return true
  }

  /** Gives it back. Answers whether it was taken. */
  free(slot: number): boolean {
    if (!this.has(slot)) return false
    this.#words[wordOf(slot)]! &= ~bitOf(slot)
    this.#taken -= 1
    return true
  }

  /** The first free one from `start` on, begun again at 0 after the last. There must be one. */
  nextFree(start: number): number {
    let slot = start
    while (this.has(slot)) {
      const wholeWord = slot % 32 === 0 && this.#words[wordOf(slot)] === ALL_TAKEN
      slot += wholeWord ? 32 : 1
      if (slot >= this.size) slot = 0
    }
    return slot
  }

  #growTo(word: number): void {
    if (word < this.#words.length) return
    const most = Math.ceil(this.size / 32)
    const grown = new Uint32Array(Math.min(most, Math.max(word + 1, this.#words.length * 2)))
    grown.set(this.#words)
    this.#words = grown
  }
}

const ALL_TAKEN = 0xffff_ffff

function wordOf(slot: number): number {
  return Math.floor(slot / 32)
}

function bitOf(slot: number): number {
  return 1 << (slot % 32)
}
