/** Flags of the subcommands, refused in words that help: what was meant, what is wanted. */
import { GyropilotError, errorText, suggestion, suggestionOf } from '@gyropilot/foundation'
import { parseFlags } from '@gyropilot/manager/flags'
import type { FlagDefinition, ParsedFlags } from '@gyropilot/manager/flags'

const WANTED: Partial<Readonly<Record<FlagDefinition['type'], string>>> = {
  int: 'a whole number',
  float: 'a number',
  bool: 'true or false',
  duration: 'a duration such as 500ms or 1m30s',
}

type Refuse = (message: string, cause?: unknown) => Error

/** `command` as it is written; `refuse` makes the error of a sentence. */
export function flagsOf(
  definitions: readonly FlagDefinition[],
  args: readonly string[],
  command: string,
  refuse: Refuse,
): ParsedFlags {
  const parsed = parsedFlags(definitions, args, command, refuse)
  for (const { name, values, default: preset } of definitions) {
    const value = String(parsed.values.get(name))
    if (values === undefined || value === preset || values.includes(value)) continue
    const meant = suggestion(value, values) || `: use ${listed(values)}`
    throw refuse(`--${name}=${value} is not known${meant}`)
  }
  return parsed
}

function listed(values: readonly string[]): string {
  return [values.slice(0, -1).join(', '), ...values.slice(-1)].filter(Boolean).join(' or ')
}

function parsedFlags(
  definitions: readonly FlagDefinition[],
  args: readonly string[],
  command: string,
  refuse: Refuse,
): ParsedFlags {
  try {
    return parseFlags(definitions, args, command)
  } catch (error) {
    const isOfGates = error instanceof GyropilotError && error.code === 'FEATURE_GATE_INVALID'
    const text = errorText(error)
    throw refuse(
      isOfGates ? `--feature-gates: ${text}` : helpful(text, definitions, command),
      error,
    )
  }
}

/** The flag parser speaks as Go's does, for kube-controller-manager; here people read it. */
function helpful(message: string, definitions: readonly FlagDefinition[], command: string): string {
  const [, unknown] = /^unknown flag: --(.*)$/.exec(message) ?? []
  if (unknown !== undefined) {
    const meant = suggestionOf(
      `--${unknown}`,
      definitions.map(({ name }) => `--${name}`),
    )
    return `unknown flag --${unknown}${meant || `: see ${command} --help`}`
  }
  const [, letter] = /^unknown shorthand flag: '(.+?)' in -/.exec(message) ?? []
  if (letter !== undefined) return `unknown flag -${letter}: see ${command} --help`
  const [, value, name] =
    /^invalid argument (".*") for "(?:-\w, )?--([\w-]+)" flag: /s.exec(message) ?? []
  const wanted = WANTED[definitions.find((flag) => flag.name === name)?.type ?? 'string']
  if (value !== undefined && wanted !== undefined)
    return `--${name}=${JSON.parse(value)} is not ${wanted}`
  return message
}

/** Flags, and the words beside them: the parser of flags takes none, which is right for most commands. */
export function separated(
  args: readonly string[],
  definitions: readonly FlagDefinition[],
): { readonly flags: readonly string[]; readonly words: readonly string[] } {
  const flags: string[] = []
  const words: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    if (arg === '--') return { flags, words: [...words, ...args.slice(at + 1)] }
    if (!arg.startsWith('-') || arg === '-') words.push(arg)
    else {
      flags.push(arg)
      if (takesNext(arg, definitions) && args[at + 1] !== undefined) flags.push(args[++at]!)
    }
  }
  return { flags, words }
}

function takesNext(arg: string, definitions: readonly FlagDefinition[]): boolean {
  const flag = arg.startsWith('--')
    ? definitions.find(({ name }) => `--${name}` === arg)
    : definitions.find(({ shorthand }) => `-${shorthand}` === arg)
  return flag !== undefined && flag.type !== 'bool'
}
