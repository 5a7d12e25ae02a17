/** The text of --help: groups as upstream has them, one flag to a paragraph. Pure. */
import type { FlagGroup } from './flag-group.ts'
import type { FlagDefinition, FlagType } from './pflag.ts'

export function usageOf(program: string): string {
  return `Usage:\n  ${program} [flags]\n`
}

interface HelpOptions {
  readonly name: string
  /** What the program is for, in lines. */
  readonly introduction: string
  readonly flagGroups: readonly FlagGroup[]
}

/** `columns` is the width of the terminal. */
export function helpText({ name, introduction, flagGroups }: HelpOptions, columns: number): string {
  const sections = flagGroups.map(
    ({ title, flags }) =>
      `${title} flags:\n\n${flags.map((flag) => flagText(flag, columns)).join('')}`,
  )
  return `${introduction}\n\n${usageOf(name)}\n${sections.join('\n')}`
}

function flagText(flag: FlagDefinition, columns: number): string {
  const short = flag.shorthand ? `-${flag.shorthand}, ` : '    '
  const value = flag.type === 'bool' || flag.type === 'optionalString' ? '' : ` ${shownType(flag)}`
  const preset =
    flag.default === '' || flag.default === 'false' ? '' : `     Default: ${shownDefault(flag)}`
  const note = flag.unused === undefined ? '' : ` (Accepted without effect: ${flag.unused}.)`
  return `  ${short}--${flag.name}${value}${preset}\n${wrap(flag.help + note, 16, Math.max(columns, 60))}`
}

/** As upstream's --help has them, where they are not called so here. */
const SHOWN_TYPES: Partial<Record<FlagType, string>> = {
  int: 'int32',
  int64: 'int',
  integers: 'int32Slice',
  mapStringBool: 'colonSeparatedMultimapStringString',
  modules: 'pattern=N,...',
  uint: 'Level',
}

function shownType({ type }: FlagDefinition): string {
  return SHOWN_TYPES[type] ?? type
}

function shownDefault(flag: FlagDefinition): string {
  if (flag.type === 'string') return JSON.stringify(flag.default)
  return flag.type === 'strings' ? `[${flag.default}]` : flag.default
}

/** Every line of `text` begins a line. */
function wrap(text: string, indent: number, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, indent, columns))
    .join('')
}

function wrapLine(text: string, indent: number, columns: number): string {
  let out = ''
  let line = ' '.repeat(indent)
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > columns && line.trim() !== '') {
      out += `${line}\n`
      line = ' '.repeat(indent)
    }
    line += line.trim() === '' ? word : ` ${word}`
  }
  return `${out}${line}\n`
}
