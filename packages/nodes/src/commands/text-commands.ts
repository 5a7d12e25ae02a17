/** Tools that read lines: of the files that are named, one after the other, or of the input when none is. */
import { extendedPattern } from './line-pattern.ts'
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { gathered } from '../files/gathered.ts'
import type { Command, Process } from '../shell/process.ts'

/** Tools that see all lines at once hold up everybody while they do. */
const MOST_LINE_BYTES = 8 * 2 ** 20

const NO_FILE = '/dev/null'

/** Contents of a file by the name that a command was given. */
export async function readNamed(task: Process, name: string): Promise<Uint8Array> {
  const path = absolute(name, task.folder.path)
  return path === NO_FILE ? new Uint8Array() : task.place.files.read(path)
}

/** Contents of one named file, or of the input as `-`; a file that cannot be read is said, and undefined. */
export async function contentsOf(
  task: Process,
  tool: string,
  name: string,
): Promise<Uint8Array | undefined> {
  if (name === '-') return gathered(task.stdin, MOST_LINE_BYTES)
  try {
    return await readNamed(task, name)
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    await task.err(`${tool}: ${name}: ${error.message}\n`)
    return undefined
  }
}

export function linesOf(bytes: Uint8Array): string[] {
  const lines = Buffer.from(bytes).toString().split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

export async function print(task: Process, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await task.out(`${lines.join('\n')}\n`)
}

/** `-n 3`, `-n3`, `-3`: how many lines; what is left are names. */
function countAndNames(args: readonly string[]): { count: number; names: readonly string[] } {
  let count = 10
  const names: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (arg === '-n') count = Number(args[++index])
    else if (/^-n?\d+$/.test(arg)) count = Number(arg.replace(/^-n?/, ''))
    else if (!/^-[A-Za-z]/.test(arg)) names.push(arg)
  }
  return { count, names: names.length === 0 ? ['-'] : names }
}

function endOfFile(tool: string, choose: (lines: string[], count: number) => string[]): Command {
  return async (task) => {
    const { count, names } = countAndNames(task.args)
    let exitCode = 0
    for (const name of names) {
      const bytes = await contentsOf(task, tool, name)
      if (bytes === undefined) {
        exitCode = 1
        continue
      }
      if (names.length > 1) await task.out(`==> ${name} <==\n`)
      await print(task, choose(linesOf(bytes), count))
    }
    return exitCode
  }
}

export const head: Command = endOfFile('head', (lines, count) => lines.slice(0, count))

const lastLines = endOfFile('tail', (lines, count) => (count === 0 ? [] : lines.slice(-count)))

/** `-f` waits for lines that never come. */
export const tail: Command = async (task) => {
  if (!task.args.some((arg) => /^-[A-Za-z]*[fF]/.test(arg))) return lastLines(task)
  const args = task.args.filter((arg) => !/^-[fF]$/.test(arg))
  if (args.some((arg) => !arg.startsWith('-'))) await lastLines({ ...task, args })
  await task.place.sleep(Infinity)
  return 0
}

/** Text with `^` and `$` at its ends, not a regular expression: one that backtracks would hold up everybody. */
function matcher(pattern: string, ignoresCase: boolean): (line: string) => boolean {
  const folded = (text: string): string => (ignoresCase ? text.toLowerCase() : text)
  const starts = pattern.startsWith('^')
  const ends = pattern.endsWith('$')
  const text = folded(pattern.slice(starts ? 1 : 0, ends ? -1 : undefined))
  if (starts && ends) return (line) => folded(line) === text
  if (starts) return (line) => folded(line).startsWith(text)
  if (ends) return (line) => folded(line).endsWith(text)
  return (line) => folded(line).includes(text)
}

function extendedMatcher(
  text: string,
  ignoresCase: boolean,
): ((line: string) => boolean) | undefined {
  const pattern = extendedPattern(text, ignoresCase)
  return pattern && ((line) => pattern.test(line))
}

/** Options `q`, `v`, `i`, `c`, `n`, `E`; 0 when a line was found, 1 when none was, 2 when a file cannot be read. */
export const grep: Command = async (task) => {
  const options = task.args
    .filter((arg) => /^-[A-Za-z]/.test(arg))
    .map((arg) => arg.slice(1))
    .join('')
  const [pattern = '', ...files] = task.args.filter((arg) => !/^-[A-Za-z]/.test(arg))
  const names = files.length === 0 ? ['-'] : files
  const matches = options.includes('E')
    ? extendedMatcher(pattern, options.includes('i'))
    : matcher(pattern, options.includes('i'))
  if (matches === undefined) {
    task.place.onUnknown?.(`grep ${pattern}`)
    await task.err(`grep: simulated containers do not know the pattern ${pattern}\n`)
    return 2
  }
  const wanted = !options.includes('v')
  let found = false
  let failed = false
  for (const name of names) {
    const bytes = await contentsOf(task, 'grep', name)
    failed ||= bytes === undefined
    if (bytes === undefined) continue
    const prefix = names.length > 1 ? `${name}:` : ''
    const numbered = linesOf(bytes).map((line, index) => ({ line, number: index + 1 }))
    const chosen = numbered.filter(({ line }) => matches(line) === wanted)
    found ||= chosen.length > 0
    if (options.includes('q')) continue
    if (options.includes('c')) await task.out(`${prefix}${chosen.length}\n`)
    else
      await print(
        task,
        chosen.map(({ line, number }) =>
          options.includes('n') ? `${prefix}${number}:${line}` : `${prefix}${line}`,
        ),
      )
  }
  return failed ? 2 : found ? 0 : 1
}

/** Bytes, lines and words that went by; nothing is kept. */
class Counts {
  readonly c: number
  readonly l: number
  readonly w: number

  constructor(c = 0, l = 0, w = 0) {
    this.c = c
    this.l = l
    this.w = w
  }

  plus(other: Counts): Counts {
    return new Counts(this.c + other.c, this.l + other.l, this.w + other.w)
  }
}

async function counted(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Counts> {
  let bytes = 0
  let lines = 0
  let words = 0
  let inWord = false
  for await (const chunk of chunks) {
    bytes += chunk.length
    for (const byte of chunk) {
      const space = byte === 32 || (byte >= 9 && byte <= 13)
      if (byte === 10) lines++
      if (!space && !inWord) words++
      inWord = !space
    }
  }
  return new Counts(bytes, lines, words)
}

export const wordCount: Command = async (task) => {
  const options = task.args.filter((arg) => /^-[A-Za-z]/.test(arg)).join('')
  const files = task.args.filter((arg) => !/^-[A-Za-z]/.test(arg))
  const letters = (['l', 'w', 'c'] as const).filter((letter) => options.includes(letter))
  const print = (counts: Counts, name: string): Promise<void> => {
    const numbers = (letters.length > 0 ? letters : (['l', 'w', 'c'] as const)).map(
      (letter) => counts[letter],
    )
    return task.out(`${[...numbers, ...(name === '' ? [] : [name])].join(' ')}\n`)
  }
  if (files.length === 0) {
    await print(await counted(task.stdin), '')
    return 0
  }
  let total = new Counts()
  let exitCode = 0
  for (const name of files) {
    const bytes = await contentsOf(task, 'wc', name)
    if (bytes === undefined) {
      exitCode = 1
      continue
    }
    const counts = await counted([bytes])
    total = total.plus(counts)
    await print(counts, name)
  }
  if (files.length > 1) await print(total, 'total')
  return exitCode
}
