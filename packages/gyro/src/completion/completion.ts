/** `gyro completion`: prints a script for a shell. */
import { suggestion } from '@gyropilot/foundation'
import { commands } from '../commands.ts'
import { gyroErrors } from '../errors.ts'
import { COMPONENTS } from '../up/up-flags.ts'
import { bashScript, fishScript, zshScript } from './shells.ts'
import type { Completed, Values } from './shells.ts'

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

const HELP = `Prints a script with which a shell completes the commands and flags of gyro.

  bash   echo 'source <(gyro completion bash)' >> ~/.bashrc
  zsh    echo 'source <(gyro completion zsh)' >> ~/.zshrc       after compinit
  fish   gyro completion fish > ~/.config/fish/completions/gyro.fish

Usage:
  gyro completion bash|zsh|fish
`

export async function completionCommand(args: readonly string[]): Promise<void> {
  const [shell, ...more] = args
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HELP)
    return
  }
  const names = Object.keys(SHELLS)
  if (shell === undefined || more.length > 0 || !names.includes(shell)) {
    const what =
      shell === undefined
        ? 'say which shell'
        : `${JSON.stringify(args.join(' '))} is no shell that is known`
    const meant = shell === undefined ? '' : suggestion(shell, names)
    throw gyroErrors.make(
      'COMPLETION_SHELL_UNKNOWN',
      `${what}${meant || ': use gyro completion bash, zsh or fish'}`,
    )
  }
  process.stdout.write(await completionScript(shell as keyof typeof SHELLS))
}

export async function completionScript(shell: keyof typeof SHELLS): Promise<string> {
  const completed: readonly Completed[] = await Promise.all(
    commands.map(async ({ name, summary, words = [], takesFiles = false, flags }) => ({
      name,
      summary,
      words,
      takesFiles,
      flags: (await flags?.()) ?? [],
    })),
  )
  return SHELLS[shell](completed, VALUES)
}

/** Of flags whose definitions do not name theirs. */
const VALUES: Values = {
  components: COMPONENTS,
  kubeconfig: 'file',
  'cloud-config': 'file',
  kubectl: 'file',
  scenario: 'file',
  'data-dir': 'folder',
  dir: 'folder',
}
