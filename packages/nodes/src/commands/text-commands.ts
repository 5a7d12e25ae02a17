/** Tools that read lines: of the files that are named, one after the other, or of the input when none is. */
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { gathered } from '../files/gathered.ts'
import type { Command, Process } from '../shell/process.ts'
import { knownArguments } from './known-arguments.ts'

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
  const given = await knownArguments(task, 'wc', {
    flags: 'lwc',
    words: { bytes: 'c', lines: 'l', words: 'w' },
  })
  if (given === undefined) return 1
  const files = given.operands
  const letters = (['l', 'w', 'c'] as const).filter((letter) => given.has(letter))
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
