/** `sort`: all lines in order, by their bytes; `-r` backwards, `-u` each once, `-n` by the numbers that they begin with. */
import { compareStrings } from '@gyropilot/foundation'
import type { Command } from '../shell/process.ts'
import { contentsOf, linesOf, print } from './text-commands.ts'

export const sort: Command = async (task) => {
  const options = task.args.filter((arg) => /^-[A-Za-z]/.test(arg)).join('')
  const files = task.args.filter((arg) => !/^-[A-Za-z]/.test(arg))
  if (/[^-rnu]/.test(options)) {
    task.place.onUnknown?.(`sort ${options}`)
    await task.err('sort: simulated containers know -r, -n and -u\n')
    return 2
  }
  const lines: string[] = []
  for (const name of files.length === 0 ? ['-'] : files) {
    const bytes = await contentsOf(task, 'sort', name)
    if (bytes === undefined) return 2
    for (const line of linesOf(bytes)) lines.push(line)
  }
  const number = (line: string): number => Number.parseFloat(line) || 0
  const byNumber = options.includes('n')
  lines.sort((a, b) => (byNumber ? number(a) - number(b) : 0) || compareStrings(a, b))
  if (options.includes('r')) lines.reverse()
  await print(task, options.includes('u') ? [...new Set(lines)] : lines)
  return 0
}
