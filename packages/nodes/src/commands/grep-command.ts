/** `grep`: the lines of files, or of the input, that patterns are found in. */
import { absolute } from '../files/file-tree.ts'
import type { FileTree } from '../files/file-tree.ts'
import type { Command, Process } from '../shell/process.ts'
import { knownArguments, sayUnknown } from './known-arguments.ts'
import { basicPattern, extendedPattern, fixedPattern } from './line-pattern.ts'
import { contentsOf, linesOf } from './text-commands.ts'

const OPTIONS = {
  flags: 'EFGHLRchilnoqrsvwxy',
  valued: 'ABCem',
  words: {
    color: 'color',
    colour: 'color',
    count: 'c',
    'extended-regexp': 'E',
    'files-with-matches': 'l',
    'files-without-match': 'L',
    'fixed-strings': 'F',
    'ignore-case': 'i',
    'invert-match': 'v',
    'line-buffered': 'color',
    'line-number': 'n',
    'line-regexp': 'x',
    'no-filename': 'h',
    'no-messages': 's',
    'only-matching': 'o',
    quiet: 'q',
    recursive: 'r',
    silent: 'q',
    'with-filename': 'H',
    'word-regexp': 'w',
  },
  wordsWithValue: {
    'after-context': 'A',
    'before-context': 'B',
    context: 'C',
    'max-count': 'm',
    regexp: 'e',
  },
} as const

type Given = NonNullable<Awaited<ReturnType<typeof knownArguments>>>

/** 0 when a line was found, 1 when none was, 2 when a file cannot be read. */
export const grep: Command = async (task) => {
  const given = await knownArguments(task, 'grep', OPTIONS)
  if (given === undefined) return 2
  const isNamed = given.has('e')
  const [first, ...rest] = given.operands
  if (!isNamed && first === undefined) {
    await task.err('usage: grep [OPTION]... PATTERNS [FILE]...\n')
    return 2
  }
  const texts = (isNamed ? given.values('e') : [first!]).flatMap((text) => text.split('\n'))
  const patterns: RegExp[] = []
  for (const text of texts) {
    const pattern = patternOf(text, given)
    if (pattern === undefined) {
      task.place.onUnknown?.(`grep ${text}`)
      await task.err(`grep: simulated containers do not know the pattern ${text}\n`)
      return 2
    }
    patterns.push(pattern)
  }
  for (const letter of ['A', 'B', 'C', 'm']) {
    const number = given.value(letter) ?? '0'
    if (/^\d+$/.test(number)) continue
    await sayUnknown(task, 'grep', `-${letter} ${number}`)
    return 2
  }
  const quiet = given.has('s') ? { ...task, err: async () => {} } : task
  return searched(quiet, given, patterns, isNamed ? given.operands : rest)
}

/** Undefined: more than is known here. */
function patternOf(text: string, given: Given): RegExp | undefined {
  const ignoresCase = given.has('i') || given.has('y')
  const pattern = given.has('F')
    ? fixedPattern(text, ignoresCase)
    : given.has('E')
      ? extendedPattern(text, ignoresCase)
      : basicPattern(text, ignoresCase)
  if (pattern === undefined) return undefined
  // Of several alternatives the longest is shown, which is more than they are tried for here.
  if (given.has('o') && !given.has('F') && pattern.source.includes('|')) return undefined
  let { source, flags } = pattern
  if (given.has('x')) source = `^(?:${source})$`
  else if (given.has('w')) source = `(?<!\\w)(?:${source})(?!\\w)`
  return new RegExp(source, given.has('o') ? `${flags}g` : flags)
}

async function searched(
  task: Process,
  given: Given,
  patterns: readonly RegExp[],
  operands: readonly string[],
): Promise<number> {
  const isDeep = given.has('r') || given.has('R')
  const asked = operands.length > 0 ? operands : [isDeep ? '' : '-']
  const { files } = task.place
  const names = isDeep ? asked.flatMap((name) => filesBelow(files, task.folder.path, name)) : asked
  const isTitled = !given.has('h') && (given.has('H') || isDeep || names.length > 1)
  let found = false
  let failed = false
  for (const name of names) {
    const bytes = await contentsOf(task, 'grep', name)
    failed ||= bytes === undefined
    if (bytes === undefined) continue
    const shown = name === '-' ? '(standard input)' : name
    const lines = linesOf(bytes)
    const chosen = chosenOf(lines, given, patterns)
    if (given.has('L') ? chosen.length === 0 : chosen.length > 0) {
      if (given.has('q')) return 0
      found = true
      if (given.has('L') || given.has('l')) await task.out(`${shown}\n`)
    }
    if (given.has('q') || given.has('L') || given.has('l')) continue
    if (given.has('c')) await task.out(`${isTitled ? `${shown}:` : ''}${chosen.length}\n`)
    else {
      const said = saidOf(lines, chosen, given, patterns, isTitled ? shown : undefined)
      if (said.length > 0) await task.out(`${said.join('\n')}\n`)
    }
  }
  return failed ? 2 : found ? 0 : 1
}

/** A folder is all that is below it; what is not there is left for whoever reads it. */
function filesBelow(files: FileTree, folder: string, name: string): readonly string[] {
  const path = absolute(name, folder)
  if (name === '-' || !files.isFolder(path)) return [name]
  const prefix = name === '' ? '' : `${name.replace(/\/$/, '')}/`
  return files.list(path).flatMap((entry) => filesBelow(files, folder, `${prefix}${entry}`))
}

/** Their places. */
function chosenOf(
  lines: readonly string[],
  given: Given,
  patterns: readonly RegExp[],
): readonly number[] {
  const wanted = !given.has('v')
  const most = Number(given.value('m') ?? Infinity)
  const chosen: number[] = []
  for (const [at, line] of lines.entries()) {
    if (chosen.length >= most) break
    if (patterns.some((pattern) => line.search(pattern) !== -1) === wanted) chosen.push(at)
  }
  return chosen
}

function saidOf(
  lines: readonly string[],
  chosen: readonly number[],
  given: Given,
  patterns: readonly RegExp[],
  title: string | undefined,
): readonly string[] {
  const label = (at: number, mark: string): string =>
    `${title === undefined ? '' : title + mark}${given.has('n') ? `${at + 1}${mark}` : ''}`
  if (given.has('o')) {
    if (given.has('v')) return []
    return chosen.flatMap((at) =>
      partsOf(lines[at]!, patterns).map((part) => label(at, ':') + part),
    )
  }
  const around = (letter: string): number => Number(given.value(letter) ?? given.value('C') ?? 0)
  const [before, after] = [around('B'), around('A')]
  const said: string[] = []
  /** Behind the last one that was shown. */
  let next = 0
  for (const [index, at] of chosen.entries()) {
    const from = Math.max(next, at - before)
    if (before + after > 0 && said.length > 0 && from > next) said.push('--')
    for (let line = from; line < at; line++) said.push(label(line, '-') + lines[line])
    said.push(label(at, ':') + lines[at])
    const end = Math.min(lines.length, at + 1 + after, chosen[index + 1] ?? Infinity)
    for (let line = at + 1; line < end; line++) said.push(label(line, '-') + lines[line])
    next = end
  }
  return said
}

/** From left to right; at one place the longest. */
function partsOf(line: string, patterns: readonly RegExp[]): readonly string[] {
  const all = patterns.flatMap((pattern) => [...line.matchAll(pattern)])
  all.sort((a, b) => a.index - b.index || b[0].length - a[0].length)
  const parts: string[] = []
  let end = 0
  for (const { 0: part, index } of all) {
    if (part === '' || index < end) continue
    parts.push(part)
    end = index + part.length
  }
  return parts
}
