/** `head` and `tail`: lines or bytes at the beginning or at the end of files. */
import type { Command, Process } from '../shell/process.ts'
import { knownArguments } from './known-arguments.ts'
import { contentsOf } from './text-commands.ts'

const NEWLINE = 10
const UNIT_SIZES: Readonly<Record<string, number>> = { '': 1, b: 512, k: 1_024, m: 1_048_576 }
const OPTIONS = {
  flags: 'qv',
  valued: 'nc',
  words: { quiet: 'q', silent: 'q', verbose: 'v' },
  wordsWithValue: { lines: 'n', bytes: 'c' },
} as const
/** Nothing is looked at more than once, so neither how often (-s) nor what becomes of a name (-F, --retry) matters. */
const TAIL_OPTIONS = {
  flags: 'qvfF',
  valued: 'ncs',
  words: { ...OPTIONS.words, follow: 'f', retry: 'retry' },
  wordsWithValue: { ...OPTIONS.wordsWithValue, 'sleep-interval': 's' },
} as const

interface Amount {
  readonly sign: string
  readonly count: number
}

type Given = NonNullable<Awaited<ReturnType<typeof knownArguments>>>

export const head: Command = async (task) => {
  const given = await knownArguments(task, 'head', OPTIONS, withLetter(task.args))
  // `-n -2`: all but the last two.
  return given === undefined
    ? 1
    : eachFile(task, 'head', given, (bytes, { sign, count }, place) =>
        bytes.subarray(0, sign === '-' ? place.behind(bytes, count) : place.ahead(bytes, count)),
      )
}

/** `-f` waits for lines that never come. */
export const tail: Command = async (task) => {
  const given = await knownArguments(task, 'tail', TAIL_OPTIONS, withLetter(task.args))
  if (given === undefined) return 1
  const waits = given.has('f') || given.has('F')
  // `-n +2`: from the second on.
  const exitCode =
    waits && given.operands.length === 0
      ? 0
      : await eachFile(task, 'tail', given, (bytes, { sign, count }, place) =>
          bytes.subarray(
            sign === '+' ? place.ahead(bytes, Math.max(0, count - 1)) : place.behind(bytes, count),
          ),
        )
  if (waits) await task.place.sleep(Infinity)
  return exitCode
}

/** `-3` is `-n 3`, unless it is the value of an option. */
function withLetter(args: readonly string[]): readonly string[] {
  const isValue = (at: number): boolean =>
    /^(?:-[qvfF]*[ncs]|--lines|--bytes)$/.test(args[at - 1] ?? '')
  return args.map((arg, at) => (isValue(at) ? arg : arg.replace(/^-(?=\d+$)/, '-n')))
}

async function eachFile(
  task: Process,
  tool: string,
  given: Given,
  choose: (bytes: Uint8Array, amount: Amount, place: Places) => Uint8Array,
): Promise<number> {
  const isOfBytes = given.has('c')
  const text = given.value(isOfBytes ? 'c' : 'n') ?? '10'
  const amount = amountOf(text)
  if (amount === undefined) {
    await task.err(`${tool}: invalid number '${text}'\n`)
    return 1
  }
  const names = given.operands.length === 0 ? ['-'] : given.operands
  const isTitled = given.has('v') || (names.length > 1 && !given.has('q'))
  let exitCode = 0
  for (const name of names) {
    const bytes = await contentsOf(task, tool, name)
    if (bytes === undefined) {
      exitCode = 1
      continue
    }
    if (isTitled) await task.out(`==> ${name} <==\n`)
    const chosen = choose(bytes, amount, isOfBytes ? OF_BYTES : OF_LINES)
    if (chosen.length > 0) await task.out(chosen)
  }
  return exitCode
}

function amountOf(text: string): Amount | undefined {
  const [, sign = '', digits, unit = ''] = /^([-+]?)(\d+)([bkm]?)$/i.exec(text) ?? []
  if (digits === undefined) return undefined
  return { sign, count: Number(digits) * UNIT_SIZES[unit.toLowerCase()]! }
}

interface Places {
  /** Where the first so many end. */
  ahead(bytes: Uint8Array, count: number): number
  /** Where the last so many begin. */
  behind(bytes: Uint8Array, count: number): number
}

const OF_BYTES: Places = {
  ahead: (bytes, count) => Math.min(bytes.length, count),
  behind: (bytes, count) => Math.max(0, bytes.length - count),
}

/** A last line without an end is one, too. */
const OF_LINES: Places = {
  ahead(bytes, count) {
    let at = 0
    for (let left = count; left > 0 && at < bytes.length; left--) {
      const end = bytes.indexOf(NEWLINE, at)
      at = end === -1 ? bytes.length : end + 1
    }
    return at
  },
  behind(bytes, count) {
    let at = bytes.length
    for (let left = count; left > 0 && at > 0; left--)
      at = at === 1 ? 0 : bytes.lastIndexOf(NEWLINE, at - 2) + 1
    return at
  },
}
