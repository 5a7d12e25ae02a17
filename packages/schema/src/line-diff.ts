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

const NOWHERE: readonly number[] = []
const CONTEXT_LINES = 3
/** From so many lines on, lines that make up more than a hundredth of the text are frequent. */
const LONG_TEXT_LINES = 200

/** Hunks with three lines of context, headed by their `@@` lines, ended by a line break; empty for equal texts. */
export function unifiedDiff(before: readonly string[], after: readonly string[]): string {
  const edits = editScript(before, after)
  let text = ''
  const passed: Counts = { '-': 0, '+': 0 }
  let counted = 0
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
    // Lines of context may stand in two hunks.
    for (; counted < from; counted++) count(edits[counted]!, passed)
    text += hunk(edits.slice(from, to), passed)
    start = to
  }
  return text
}

/** Lines of the text before (`-`) and of the one behind. */
type Counts = Record<'-' | '+', number>

function count({ sign }: Edit, into: Counts): void {
  if (sign !== '+') into['-']++
  if (sign !== '-') into['+']++
}

/** `passed`: what stands in front of it. */
function hunk(edits: readonly Edit[], passed: Counts): string {
  const lengths: Counts = { '-': 0, '+': 0 }
  for (const edit of edits) count(edit, lengths)
  const range = (sign: '-' | '+'): string => {
    const start = passed[sign] + 1
    const length = lengths[sign]
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
  const places = a.map((line) => positions.get(line) ?? NOWHERE)
  const matches: Match[] = []
  // Not by calls: texts of many small changes are as deep as they are long.
  const open: Range[] = [[0, a.length, 0, b.length]]
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const match = longestMatch(a, b, places, range)
    if (match.length === 0) continue
    const { i, j, length } = match
    const [aFrom, aTo, bFrom, bTo] = range
    matches.push(match)
    if (aFrom < i && bFrom < j) open.push([aFrom, i, bFrom, j])
    if (i + length < aTo && j + length < bTo) open.push([i + length, aTo, j + length, bTo])
  }
  return matches.toSorted((one, other) => one.i - other.i)
}

type Range = readonly [aFrom: number, aTo: number, bFrom: number, bTo: number]

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

/** The first of the longest, lengthened by equal lines on both sides. `places`: where each line of `a` stands in `b`, in order. */
function longestMatch(
  a: readonly string[],
  b: readonly string[],
  places: readonly (readonly number[])[],
  [aFrom, aTo, bFrom, bTo]: Range,
): Match {
  let best: Match = { i: aFrom, j: bFrom, length: 0 }
  // Runs that end in front of a place of the other text, with the line before; and with this one.
  let ending = new Int32Array(bTo - bFrom + 1)
  let next = new Int32Array(bTo - bFrom + 1)
  let endings: readonly number[] = NOWHERE
  for (let i = aFrom; i < aTo; i++) {
    const found = places[i]!
    for (const j of found) {
      if (j < bFrom) continue
      if (j >= bTo) break
      const length = ending[j - bFrom]! + 1
      next[j - bFrom + 1] = length
      if (length > best.length) best = { i: i - length + 1, j: j - length + 1, length }
    }
    for (const j of endings) if (j >= bFrom && j < bTo) ending[j - bFrom + 1] = 0
    ;[ending, next] = [next, ending]
    endings = found
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
