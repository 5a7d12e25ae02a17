/** The smallest part of a list that still fails: delta debugging, by taking ever smaller parts away. */

interface Minimized<T> {
  readonly items: readonly T[]
  readonly tries: number
  /** No single item can be taken away any more. False: the tries were used up before that was known. */
  readonly isMinimal: boolean
}

/** `fails` is asked at most `mostTries` times. Order is kept. */
export async function minimized<T>(
  all: readonly T[],
  fails: (items: readonly T[]) => Promise<boolean>,
  mostTries: number,
): Promise<Minimized<T>> {
  let items = all
  let tries = 0
  let size = items.length
  while (items.length > 0) {
    const before = items.length
    size = Math.min(size, before)
    // From the end: what came late had the least time to be a cause of anything else.
    for (let end = before; end > 0; end -= size) {
      if (tries === mostTries) return { items, tries, isMinimal: false }
      const start = Math.max(0, end - size)
      const rest = [...items.slice(0, start), ...items.slice(end)]
      tries++
      if (await fails(rest)) items = rest
    }
    // With one item at a time, a whole round without success is the end.
    if (size === 1 && items.length === before) break
    size = Math.max(1, Math.ceil(size / 2))
  }
  return { items, tries, isMinimal: true }
}
