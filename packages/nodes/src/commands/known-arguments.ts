/** Options that a command of simulated containers knows; with any other it says so and does nothing: what it would do is not known. */
import { readArguments } from '../network-commands/arguments.ts'
import type { Process } from '../shell/process.ts'

interface Known {
  /** Letters that stand for themselves. */
  readonly flags: string
  /** Letters that a value follows. */
  readonly valued?: string
  /** Long forms, and the letter that means the same. */
  readonly words?: Readonly<Record<string, string>>
  readonly wordsWithValue?: Readonly<Record<string, string>>
}

interface Given {
  has(letter: string): boolean
  /** The last one. */
  value(letter: string): string | undefined
  values(letter: string): readonly string[]
  readonly operands: readonly string[]
}

/** Undefined: something is not known, and was said. */
export async function knownArguments(
  task: Process,
  tool: string,
  { flags, valued = '', words = {}, wordsWithValue = {} }: Known,
  args = task.args,
): Promise<Given | undefined> {
  const read = readArguments(args, { flags, valued, words, wordsWithValue })
  if (read.kind === 'unknown') {
    await sayUnknown(task, tool, read.option)
    return undefined
  }
  const { options, operands } = read
  const values = (letter: string): readonly string[] => options.get(letter) ?? []
  return {
    has: (letter) => options.has(letter),
    value: (letter) => values(letter).at(-1),
    values,
    operands,
  }
}

export async function sayUnknown(task: Process, tool: string, what: string): Promise<void> {
  task.place.onUnknown?.(`${tool} ${what}`)
  await task.err(`${tool}: ${what} is not known to simulated containers\n`)
}
