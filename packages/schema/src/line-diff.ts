/**
 * Differences of texts as kube-apiserver prints them: the longest common run of lines first, then left and right of it. In long
 * texts lines that stand there often begin no run, they only lengthen one.
 */

interface Match {
  readonly i: number
  readonly j: number
  readonly length: number
}

interface Edit {
  readonly sign: ' ' | '-' | '+'
  readonly line: string
}

const CONTEXT_LINES = 3
/** From so many lines on, lines that make up more than a hundredth of the text are frequent. */
const LONG_TEXT_LINES = 200

/** Hunks with three lines of context, headed by their `@@` lines, ended by a line break; empty for equal texts. */
export function unifiedDiff(before: readonly string[], after: readonly string[]): string {
  const edits = editScript(before, after)
  let text = ''
  for (let start = 0; start < edits.length;) {
    if (edits[start]!.sign === ' ') {
      start++
      continue
    }
    let end = start
    for (let index = start; index < edits.length && index <= end + 2 * CONTEXT_LINES + 1; index++)
      if (edits[index]!.sign !== ' ') end = index
    const from = Math.max(0, start - CONTEXT_LINES)
    const to = Math.min(edits.length, end + CONTEXT_LINES + 1)
    text += hunk(edits.slice(from, to), edits.slice(0, from))
    start = to
  }
  return text
}

function hunk(edits: readonly Edit[], before: readonly Edit[]): string {
  const count = (list: readonly Edit[], sign: '-' | '+'): number =>
    list.filter((edit) => edit.sign === ' ' || edit.sign === sign).length
  const range = (sign: '-' | '+'): string => {
    const start = count(before, sign) + 1
    const length = count(edits, sign)
    return length === 1 ? `${start}` : `${length === 0 ? start - 1 : start},${length}`
  }
  return `@@ -${range('-')} +${range('+')} @@\n${edits.map(({ sign, line }) => `${sign}${line}\n`).join('')}`
}

/** Removals come before additions. */
function editScript(a: readonly string[], b: readonly string[]): Edit[] {
  const edits: Edit[] = []
  const change = (i: number, iEnd: number, j: number, jEnd: number): void => {
    for (const line of a.slice(i, iEnd)) edits.push({ sign: '-', line })
    for (const line of b.slice(j, jEnd)) edits.push({ sign: '+', line })
  }
  let [i, j] = [0, 0]
  for (const match of matchesOf(a, b)) {
    change(i, match.i, j, match.j)
    i = match.i + match.length
    j = match.j + match.length
    for (const line of a.slice(match.i, i)) edits.push({ sign: ' ', line })
  }
  change(i, a.length, j, b.length)
  return edits
}

function matchesOf(a: readonly string[], b: readonly string[]): Match[] {
  const positions = positionsOf(b)
  const matches: Match[] = []
  const search = (aFrom: number, aTo: number, bFrom: number, bTo: number): void => {
    const match = longestMatch(a, b, positions, [aFrom, aTo, bFrom, bTo])
    if (match.length === 0) return
    const { i, j, length } = match
    if (aFrom < i && bFrom < j) search(aFrom, i, bFrom, j)
    matches.push(match)
    if (i + length < aTo && j + length < bTo) search(i + length, aTo, j + length, bTo)
  }
  search(0, a.length, 0, b.length)
  return matches
}

/** Where each line stands, frequent ones left out. */
function positionsOf(lines: readonly string[]): Map<string, number[]> {
  const positions = new Map<string, number[]>()
  for (const [index, line] of lines.entries()) {
    const list = positions.get(line)
    if (list === undefined) positions.set(line, [index])
    else list.push(index)
  }
  if (lines.length >= LONG_TEXT_LINES) {
    const most = Math.floor(lines.length / 100) + 1
    for (const [line, { length }] of positions) if (length > most) positions.delete(line)
  }
  return positions
}

/** The first of the longest, lengthened by equal lines on both sides. */
function longestMatch(
  a: readonly string[],
  b: readonly string[],
  positions: ReadonlyMap<string, readonly number[]>,
  [aFrom, aTo, bFrom, bTo]: readonly [number, number, number, number],
): Match {
  let best: Match = { i: aFrom, j: bFrom, length: 0 }
  let lengths = new Map<number, number>()
  for (let i = aFrom; i < aTo; i++) {
    const next = new Map<number, number>()
    for (const j of positions.get(a[i]!) ?? []) {
      if (j < bFrom) continue
      if (j >= bTo) break
      const length = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, length)
      if (length > best.length) best = { i: i - length + 1, j: j - length + 1, length }
    }
    lengths = next
  }
  let { i, j, length } = best
  while (i > aFrom && j > bFrom && a[i - 1] === b[j - 1]) {
    i--
    j--
    length++
  }
  while (i + length < aTo && j + length < bTo && a[i + length] === b[j + length]) length++
  return { i, j, length }
}
