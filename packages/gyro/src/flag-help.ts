/** How the subcommands show their flags. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'

/** Longer lines are hard to read, however wide the terminal is. */
const WIDEST_PROSE = 120

/** What a command is for, and its flags, for a terminal of this width: prose is wrapped, examples stay as they are. */
export function helpPage(
  introduction: string,
  flags: readonly FlagDefinition[],
  columns: number,
): string {
  const width = Math.min(Math.max(columns, 80), WIDEST_PROSE)
  const isProse = (block: string): boolean => block.split('\n').every((line) => /^\S/.test(line))
  const blocks = introduction
    .split('\n\n')
    .map((block) => (isProse(block) ? wrapped(block.replaceAll('\n', ' '), '', width) : block))
  return `${blocks.join('\n\n')}${flagLines(flags, columns)}`
}

/** One entry per flag, its help wrapped beside it. */
export function flagLines(flags: readonly FlagDefinition[], columns: number): string {
  const width = Math.max(...flags.map(({ name, type }) => `--${name} ${type}`.length))
  const indent = ' '.repeat(width + 8)
  const lines = flags.map(({ name, shorthand, type, default: preset, help }) => {
    const value = type === 'bool' ? '' : ` ${type}`
    const flag = `  ${shorthand ? `-${shorthand}, ` : '    '}--${name}${value}`.padEnd(width + 8)
    const usual = preset === '' || preset === 'false' ? '' : ` Default: ${preset}.`
    return `${flag}${wrapped(`${help}${usual}`, indent, Math.max(columns, 80))}\n`
  })
  return lines.join('')
}

/** Lines behind the first begin with `indent`, which also stands before the first. */
export function wrapped(text: string, indent: string, columns: number): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line].join(`\n${indent}`)
}
