/** Flags by group, as --help shows them. `unused` flags are accepted, because manifests pass them, and mentioned once at -v=2. */
import type { FlagDefinition, FlagType } from './pflag.ts'

export interface FlagGroup {
  readonly title: string
  readonly flags: readonly FlagDefinition[]
}

/** Name, type, default, help, and why it has no effect here. */
type Row = readonly [string, FlagType, string, string, string?]

export function group(title: string, rows: readonly Row[]): FlagGroup {
  return {
    title,
    flags: rows.map(([name, type, value, help, unused]) => ({
      name,
      type,
      default: value,
      help,
      ...(name === 'v' || name === 'help' ? { shorthand: name.slice(0, 1) } : {}),
      ...(unused === undefined ? {} : { unused }),
    })),
  }
}
