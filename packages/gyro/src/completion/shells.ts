/** Scripts that let shells complete commands, flags and the values of some, out of the tables of the commands. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'

export interface Completed {
  readonly name: string
  readonly summary: string
  readonly words: readonly string[]
  /** Its arguments are files and folders. */
  readonly takesFiles: boolean
  readonly flags: readonly FlagDefinition[]
}

/** What a flag takes, where that is little. A file or folder is completed as one. */
type Known = readonly string[] | 'file' | 'folder'

/** By the name of the flag, for those whose definitions do not say. */
export type Values = Readonly<Record<string, Known>>

function knownOf(flag: FlagDefinition, values: Values): Known | undefined {
  return flag.values ?? values[flag.name]
}

export function bashScript(commands: readonly Completed[], values: Values): string {
  const cases = commands.map(
    ({ name, words, takesFiles, flags }) =>
      `    ${name}) words=${quoted([...words, ...flagNames(flags)].join(' '))}${takesFiles ? ' files=1' : ''} ;;\n`,
  )
  const valueCases = commands.flatMap(({ name, flags }) =>
    flags.flatMap((flag) => {
      const known = knownOf(flag, values)
      if (known === undefined) return []
      const short = flag.shorthand === undefined ? '' : ` | ${quoted(`${name} -${flag.shorthand}`)}`
      const found = bashWords(known)
      return [
        `    ${quoted(`${name} --${flag.name}`)}${short}) mapfile -t COMPREPLY < <(${found}); return ;;\n`,
      ]
    }),
  )
  return `# bash completion of gyro: source <(gyro completion bash)
_gyro() {
  local value=\${COMP_WORDS[COMP_CWORD]} flag=\${COMP_WORDS[COMP_CWORD-1]} words files=
  COMPREPLY=()
  # Bash splits --flag=value at the sign.
  if [[ $value == = ]]; then value=; elif [[ $flag == = ]]; then flag=\${COMP_WORDS[COMP_CWORD-2]}; fi
  case "\${COMP_WORDS[1]} $flag" in
${valueCases.join('')}  esac
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W ${quoted(commands.map(({ name }) => name).join(' '))} -- "$value")
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('')}    *) return ;;
  esac
  if [[ $files && $value != -* ]]; then
    # Names of files get their quotes, and folders a slash.
    compopt -o filenames 2> /dev/null || :
    mapfile -t COMPREPLY < <(compgen -f -- "$value")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$value")
}
complete -F _gyro gyro gyropilot
`
}

function bashWords(known: Known): string {
  if (known === 'file') return 'compgen -f -- "$value"'
  if (known === 'folder') return 'compgen -d -- "$value"'
  return `compgen -W ${quoted(known.join(' '))} -- "$value"`
}

export function zshScript(commands: readonly Completed[], values: Values): string {
  const names = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}\n`)
  const cases = commands.map(({ name, words, takesFiles, flags }) => {
    const first = words.length === 0 ? [] : [quoted(`1:what:(${words.join(' ')})`)]
    const files = takesFiles ? [quoted('*:file:_files')] : []
    const args = [...first, ...files, ...flags.flatMap((flag) => zshFlag(flag, values))]
    return `    ${name}) _arguments ${args.join(' \\\n      ')} ;;\n`
  })
  return `#compdef gyro gyropilot
# zsh completion of gyro: source <(gyro completion zsh)
_gyro() {
  local -a commands
  commands=(
${names.join('')}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${cases.join('')}  esac
}
if [[ $funcstack[1] == _gyro ]]; then _gyro "$@"; else compdef _gyro gyro gyropilot; fi
`
}

function zshFlag(flag: FlagDefinition, values: Values): readonly string[] {
  const { name, shorthand, type, help } = flag
  const said = `[${firstSentence(help).replaceAll(/[[\]:\\]/g, '\\$&')}]`
  const known = knownOf(flag, values)
  const value =
    type === 'bool'
      ? ''
      : known === 'file'
        ? `:${name}:_files`
        : known === 'folder'
          ? `:${name}:_files -/`
          : `:${name}:${known === undefined ? '' : `(${known.map((one) => one.replaceAll(/[*:\\]/g, '\\$&')).join(' ')})`}`
  const long = quoted(`--${name}${type === 'bool' ? '' : '='}${said}${value}`)
  return shorthand === undefined ? [long] : [long, quoted(`-${shorthand}${said}${value}`)]
}

export function fishScript(commands: readonly Completed[], values: Values): string {
  const lines = commands.flatMap(({ name, summary, words, takesFiles, flags }) => [
    `complete -c gyro -n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`,
    ...(takesFiles ? [`complete -c gyro -n '__fish_seen_subcommand_from ${name}' -F`] : []),
    ...words.map((word) => `complete -c gyro -n '__fish_seen_subcommand_from ${name}' -a ${word}`),
    ...flags.map((flag) => {
      const short = flag.shorthand === undefined ? '' : ` -s ${flag.shorthand}`
      const said = ` -d ${fishQuoted(firstSentence(flag.help))}`
      return `complete -c gyro -n '__fish_seen_subcommand_from ${name}' -l ${flag.name}${short}${fishValue(flag, values)}${said}`
    }),
  ])
  return `# fish completion of gyro: gyro completion fish | source
complete -c gyro -f
complete -c gyropilot -w gyro
${lines.join('\n')}
`
}

function fishValue(flag: FlagDefinition, values: Values): string {
  const known = knownOf(flag, values)
  if (flag.type === 'bool') return ''
  if (known === undefined) return ' -x'
  if (typeof known === 'string')
    return known === 'file' ? ' -r -F' : " -x -a '(__fish_complete_directories)'"
  return ` -x -a ${fishQuoted(known.join(' '))}`
}

function flagNames(flags: readonly FlagDefinition[]): readonly string[] {
  return flags.map(({ name }) => `--${name}`)
}

function firstSentence(help: string): string {
  return help.split(/\.(?:\s|$)|; /, 1)[0]!
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`
}
