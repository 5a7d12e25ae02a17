/** What somebody may have meant who wrote something that is not known. Pure. */

const SHORTEST_BEGINNING = 3

/** The known word that is most like `word`; undefined when none is like it. The first of several. */
export function closestTo(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const changes = changesBetween(word.toLowerCase(), candidate.toLowerCase(), fewest)
    if (changes >= fewest) continue
    fewest = changes
    best = candidate
  }
  // Of short words nearly everything is two changes away: more than half of the letters must stay.
  return fewest * 2 < word.length ? best : undefined
}

/** The same of words that people cut short, such as flags: where none is like it, the only one that begins with it. */
export function suggestionOf(word: string, known: readonly string[]): string {
  const begun = known.filter((candidate) => candidate.startsWith(word))
  const isEnough = word.replace(/^-+/, '').length >= SHORTEST_BEGINNING && begun.length === 1
  return suggestion(word, known) || (isEnough ? `: did you mean ${begun[0]}?` : '')
}

/** `: did you mean X?`, or nothing. */
export function suggestion(word: string, known: Iterable<string>): string {
  const closest = closestTo(word, known)
  return closest === undefined ? '' : `: did you mean ${closest}?`
}

/** Letters to add, drop, replace, or swap with their neighbour; `limit` when it takes that many or more. */
function changesBetween(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let changes = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) changes = Math.min(changes, beforeLast[j - 2]! + 1)
      row.push(changes)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
