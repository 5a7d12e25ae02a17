import { hashOfText } from './text-hash.ts'

/**
 * Values by a text that each of them carries: a name, a uid. For tables of hundreds of thousands: V8 takes every text that is a key of a
 * Map, or is looked for in one, into its own table of all such texts, which each full collection walks through while the process stands
 * still. Here the keys are hashes, and values whose texts collide share a Map, so that texts made to collide cost what a Map costs.
 * Measurements: docs/decisions/0025-tables-by-hash.md.
 */
export class TextTable<V extends object> {
  readonly #textOf: (value: V) => string
  readonly #values = new Map<number, V | Colliding<V>>()
  #size = 0
  #collisions = 0

  constructor(textOf: (value: V) => string) {
    this.#textOf = textOf
  }

  get size(): number {
    return this.#size
  }

  get(text: string): V | undefined {
    return this.#among(this.#values.get(hashOfText(text)), text)
  }

  /** Adds or replaces; what was in its place is answered. */
  set(value: V): V | undefined {
    const text = this.#textOf(value)
    const hash = hashOfText(text)
    const found = this.#values.get(hash)
    const previous = this.#among(found, text)
    if (previous === undefined) this.#size++
    if (found instanceof Colliding) found.byText.set(text, value)
    else if (found === previous) this.#values.set(hash, value)
    else {
      this.#values.set(hash, new Colliding([found!, value], this.#textOf))
      this.#collisions++
    }
    return previous
  }

  /** Takes the value out and answers it. */
  delete(text: string): V | undefined {
    const hash = hashOfText(text)
    const found = this.#values.get(hash)
    const previous = this.#among(found, text)
    if (previous === undefined) return undefined
    this.#size--
    if (found instanceof Colliding) {
      found.byText.delete(text)
      if (found.byText.size > 0) return previous
      this.#collisions--
    }
    this.#values.delete(hash)
    return previous
  }

  /** In the order in which they came; those that collide stand together. */
  list(): V[] {
    const all = [...this.#values.values()]
    // A copy of a Map costs a tenth of going through it.
    return this.#collisions === 0 ? (all as V[]) : all.flatMap(valuesOf)
  }

  /** The same, one by one, while the table may change. */
  *values(): IterableIterator<V> {
    for (const found of this.#values.values())
      if (found instanceof Colliding) yield* found.byText.values()
      else yield found
  }

  #among(found: V | Colliding<V> | undefined, text: string): V | undefined {
    if (found instanceof Colliding) return found.byText.get(text)
    return found !== undefined && this.#textOf(found) === text ? found : undefined
  }
}

function valuesOf<V>(found: V | Colliding<V>): readonly V[] {
  return found instanceof Colliding ? [...found.byText.values()] : [found]
}

class Colliding<V> {
  readonly byText: Map<string, V>

  constructor(values: readonly V[], textOf: (value: V) => string) {
    this.byText = new Map(values.map((value) => [textOf(value), value]))
  }
}
