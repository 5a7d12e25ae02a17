/** `awk '{print $N}'`: fields of every line. The rest of its language is not known. */
import { FileError } from '../files/file-error.ts'
import { gathered } from '../files/gathered.ts'
import type { Command } from '../shell/process.ts'
import { linesOf, print, readNamed } from './text-commands.ts'

const MOST_BYTES = 8 * 2 ** 20
const PROGRAM = /^\s*\{\s*print(?:\s+(\$\w+(?:\s*,\s*\$\w+)*))?\s*;?\s*\}\s*$/

/** With `-F C`, for another separator than blanks. */
export const awk: Command = async (task) => {
  const words = [...task.args]
  const [, own] = /^-F(.*)$/s.exec(words[0] ?? '') ?? []
  if (own !== undefined) words.shift()
  const separator = own === '' ? words.shift() : own
  const program = words.shift() ?? ''
  const fields = fieldsOf(program)
  if (fields === undefined || (separator !== undefined && separator.length !== 1)) {
    task.place.onUnknown?.(`awk ${program}`)
    await task.err('awk: simulated containers know {print $N} and -F of one character\n')
    return 1
  }
  const shown = (line: string): string => {
    const parts = separator === undefined ? line.trim().split(/\s+/) : line.split(separator)
    return fields
      .map((field) => (field === 'NF' ? parts.at(-1) : field === 0 ? line : parts[field - 1]) ?? '')
      .join(' ')
  }
  for (const name of words.length === 0 ? ['-'] : words) {
    try {
      const bytes = await (name === '-' ? gathered(task.stdin, MOST_BYTES) : readNamed(task, name))
      await print(task, linesOf(bytes).map(shown))
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await task.err(`awk: ${name}: ${error.message}\n`)
      return 1
    }
  }
  return 0
}

/** 0: the whole line. Undefined: another program. */
function fieldsOf(program: string): readonly (number | 'NF')[] | undefined {
  const found = PROGRAM.exec(program)
  if (found === null) return undefined
  const names = (found[1] ?? '$0').split(',').map((field) => field.trim().slice(1))
  if (names.some((name) => name !== 'NF' && !/^\d+$/.test(name))) return undefined
  return names.map((name) => (name === 'NF' ? name : Number(name)))
}
