// Which changes the compiler refuses: nobody can make them, so no test need notice them. All are tried on a copy of the tree,
// many at once, since the compiler takes seconds and names the place.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Place {
  /** Both from 1. */
  readonly line: number
  readonly column: number
}

interface Change {
  readonly file: string
  readonly replacement: string
  readonly location: Readonly<Record<'start' | 'end', Place>>
}

/** What changes that are tried at once must not share, so that an error is told from its neighbours': first cheap, then certain. */
const KEPT_APART: readonly ((one: Change, other: Change) => boolean)[] = [
  (one, other) => one.file === other.file && overlap(one.location, other.location),
  (one, other) => one.file === other.file,
]

/**
 * Those of `changes` with which the compiler finds an error in their file; one by one only those beside which it finds an
 * error where none of them is. The tree is left as it was.
 */
export function refusedChanges<C extends Change>(
  tree: string,
  compiler: string,
  changes: readonly C[],
): ReadonlySet<C> {
  const refused = new Set<C>()
  let unsure = changes
  for (const share of KEPT_APART) {
    let left = unsure.filter((change) => !refused.has(change))
    unsure = []
    while (left.length > 0) {
      const round = apart(left, share)
      const unexplained = new Set<string>()
      for (const { file, line } of errorsWith(tree, compiler, round)) {
        const at = { file, location: { start: { line, column: 1 }, end: { line, column: 1 } } }
        const blamed = round.find((change) => share(change, { ...at, replacement: '' }))
        if (blamed === undefined) unexplained.add(file)
        else refused.add(blamed)
      }
      unsure = [...unsure, ...round.filter(({ file }) => unexplained.has(file))]
      left = left.filter((change) => !round.includes(change))
    }
  }
  return refused
}

/** As many as can be tried at once. */
function apart<C extends Change>(
  changes: readonly C[],
  share: (one: Change, other: Change) => boolean,
): readonly C[] {
  const round: C[] = []
  for (const change of changes) {
    if (!round.some((other) => share(other, change))) round.push(change)
  }
  return round
}

function overlap(one: Change['location'], other: Change['location']): boolean {
  return one.start.line <= other.end.line && other.start.line <= one.end.line
}

function errorsWith(
  tree: string,
  compiler: string,
  changes: readonly Change[],
): readonly { readonly file: string; readonly line: number }[] {
  const sources = new Map<string, string>()
  for (const { file } of changes) sources.set(file, readFileSync(join(tree, file), 'utf8'))
  // Of the whole project only these: errors elsewhere are nobody's, and the rest takes twenty times as long.
  const project = join(tree, 'tsconfig.changed.json')
  const files = [...sources.keys()]
  writeFileSync(project, JSON.stringify({ extends: './tsconfig.json', include: [], files }))
  try {
    for (const [file, source] of sources) {
      const own = changes.filter((change) => change.file === file)
      writeFileSync(join(tree, file), changed(source, own))
    }
    const args = ['--noEmit', '--pretty', 'false', '-p', project]
    const { stdout } = spawnSync(compiler, args, { cwd: tree, encoding: 'utf8' })
    const errors = stdout.matchAll(/^([^\s(]+)\((\d+),\d+\): error /gm)
    return [...errors].map(([, file, line]) => ({ file: file!, line: Number(line) }))
  } finally {
    for (const [file, source] of sources) writeFileSync(join(tree, file), source)
    rmSync(project)
  }
}

/** Every line stays where it is: what is shorter than it was is followed by empty lines. */
export function changed(source: string, changes: readonly Change[]): string {
  const starts = [0]
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) {
    starts.push(at + 1)
  }
  const offset = ({ line, column }: Place): number => starts[line - 1]! + column - 1
  let text = source
  const lastFirst = changes.toSorted((a, b) => offset(b.location.start) - offset(a.location.start))
  for (const { location, replacement } of lastFirst) {
    const lines = location.end.line - location.start.line - (replacement.split('\n').length - 1)
    const padding = '\n'.repeat(Math.max(0, lines))
    text = `${text.slice(0, offset(location.start))}${replacement}${padding}${text.slice(offset(location.end))}`
  }
  return text
}
