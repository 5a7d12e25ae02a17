/** `cut`: the same part of every line. */
import { linesOf, print, readNamed } from './text-commands.ts'
import { FileError } from '../files/file-error.ts'
import { gathered } from '../files/gathered.ts'
import type { Command } from '../shell/process.ts'

const MOST_BYTES = 8 * 2 ** 20

/** `-f LIST` with `-d C` and `-s`, or `-c LIST`; lists as `2`, `1,3`, `2-`, `-2`. */
export const cut: Command = async (task) => {
  const options = new Map<string, string>()
  const names: string[] = []
  for (let at = 0; at < task.args.length; at++) {
    const arg = task.args[at]!
    const [, letter, value] = /^-([dfc])(.*)$/s.exec(arg) ?? []
    if (letter !== undefined) options.set(letter, value || (task.args[++at] ?? ''))
    else if (arg === '-s') options.set('s', '')
    else names.push(arg)
  }
  const isWanted = chosen(options.get('f') ?? options.get('c') ?? '')
  if (isWanted === undefined) {
    task.place.onUnknown?.(`cut ${task.args.join(' ')}`)
    await task.err('cut: bad list value\n')
    return 1
  }
  const delimiter = options.get('d') ?? '\t'
  const part = (line: string): string[] => {
    if (options.has('c')) return [[...line].filter((_, index) => isWanted(index + 1)).join('')]
    if (!line.includes(delimiter)) return options.has('s') ? [] : [line]
    const fields = line.split(delimiter)
    return [fields.filter((_, index) => isWanted(index + 1)).join(delimiter)]
  }
  let exitCode = 0
  for (const name of names.length === 0 ? ['-'] : names) {
    try {
      const bytes = await (name === '-' ? gathered(task.stdin, MOST_BYTES) : readNamed(task, name))
      await print(task, linesOf(bytes).flatMap(part))
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await task.err(`cut: ${name}: ${error.message}\n`)
      exitCode = 1
    }
  }
  return exitCode
}

/** Undefined: not a list. */
function chosen(list: string): ((position: number) => boolean) | undefined {
  const ranges = list.split(',').map((range) => /^(\d*)(-?)(\d*)$/.exec(range))
  if (ranges.some((range) => range === null || range[0] === '' || range[0] === '-'))
    return undefined
  return (position) =>
    ranges.some((range) => {
      const [, from, dash, to] = range!
      if (dash === '') return position === Number(from)
      return position >= Number(from || 1) && position <= (to === '' ? Infinity : Number(to))
    })
}
