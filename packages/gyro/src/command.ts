/** Which subcommand is meant. Errors end with one line and their exit code. */
import { GyropilotError, errorText, suggestionOf, tolerateLostOutput } from '@gyropilot/foundation'
import { commands, commandsHelp } from './commands.ts'
import { gyroErrors } from './errors.ts'

export async function main(args: readonly string[]): Promise<void> {
  tolerateLostOutput('gyro')
  try {
    await run(args)
  } catch (error) {
    process.stderr.write(`gyro: ${told(error)}\n`)
    process.exit(error instanceof GyropilotError ? error.exitCode : 1)
  }
}

/**
 * A server says one word to credentials that it does not know, and one that does not run none at all. Known by name and text: the
 * client is not loaded for every command.
 */
function told(error: unknown): string {
  const text = errorText(error)
  const isRefused =
    error instanceof Error && error.name === 'StatusError' && text === 'Unauthorized'
  if (/\bconnect ECONNREFUSED\b/.test(text))
    return `${text}: nothing listens there; does the cluster run? gyro status tells of this folder's`
  if (!isRefused) return text
  return `${text}: the server does not know the credentials of the kubeconfig; its token or client certificate may have run out`
}

async function run([command, ...rest]: readonly string[]): Promise<void> {
  switch (command) {
    case 'up': {
      const { up } = await import('./up/up.ts')
      return up(rest)
    }
    case 'status': {
      const { statusCommand } = await import('./status/status.ts')
      return statusCommand(rest)
    }
    case 'down': {
      const { downCommand } = await import('./down/down.ts')
      return downCommand(rest)
    }
    case 'kubeconfig': {
      const { kubeconfigCommand } = await import('./kubeconfig/kubeconfig.ts')
      return kubeconfigCommand(rest)
    }
    case 'completion': {
      const { completionCommand } = await import('./completion/completion.ts')
      return completionCommand(rest)
    }
    case 'node': {
      const { nodeCommand } = await import('./node/node.ts')
      return nodeCommand(rest)
    }
    case 'simulate': {
      const { simulateCommand } = await import('./simulate/simulate.ts')
      return simulateCommand(rest)
    }
    case 'why': {
      const { whyCommand } = await import('./why/why.ts')
      return whyCommand(rest)
    }
    case 'check': {
      const { checkCommand } = await import('./check/check.ts')
      return checkCommand(rest)
    }
    case 'envtest': {
      const { envtestCommand } = await import('./envtest/envtest.ts')
      return envtestCommand(rest)
    }
    case 'version':
    case '--version':
      const { versionCommand } = await import('./version/version-command.ts')
      return versionCommand(rest)
    case 'help':
      if (rest[0] !== undefined) return run([rest[0], '--help'])
      process.stdout.write(commandsHelp())
      return
    case undefined:
    case '--help':
    case '-h':
      process.stdout.write(commandsHelp())
      return
    default: {
      const names = commands.map(({ name }) => name)
      const all = `: use ${names.slice(0, -1).join(', ')} or ${names.at(-1)}, or see gyro --help`
      const what = `unknown command ${JSON.stringify(command)}`
      throw gyroErrors.make('COMMAND_UNKNOWN', `${what}${suggestionOf(command, names) || all}`)
    }
  }
}
