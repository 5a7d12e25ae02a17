/** Which subcommand is meant. Errors end with one line and their exit code. */
import { GyropilotError, errorText, suggestion } from '@gyropilot/foundation'
import { gyroErrors } from './errors.ts'

const COMMANDS = ['up', 'node', 'simulate', 'why', 'check', 'envtest', 'version', 'help']

const HELP = `gyro: a Kubernetes cluster in one process

Usage:
  gyro COMMAND [flags]

Commands:
  up        Start a cluster and keep it running: API server, controllers, scheduler, simulated nodes.
  node      Turn the machine of a simulated node off and on again.
  simulate  Run a cluster on virtual time with faults from a seed, and check that it ends as it must.
  why       Say what the deletion of an object waits for, on any cluster.
  check     Judge manifests as kube-apiserver would, without a cluster.
  envtest   Print a folder with kube-apiserver, etcd and kubectl for test harnesses: KUBEBUILDER_ASSETS=$(gyro envtest).
  version   Print the version.

Run 'gyro COMMAND --help' for the flags of a command.
`

export async function main(args: readonly string[]): Promise<void> {
  try {
    await run(args)
  } catch (error) {
    process.stderr.write(`gyro: ${errorText(error)}\n`)
    process.exit(error instanceof GyropilotError ? error.exitCode : 1)
  }
}

async function run([command, ...rest]: readonly string[]): Promise<void> {
  switch (command) {
    case 'up': {
      const { up } = await import('./up/up.ts')
      return up(rest)
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
      process.stdout.write('gyro v0.1.0 (Kubernetes v1.36.0)\n')
      return
    case 'help':
      if (rest[0] !== undefined) return run([rest[0], '--help'])
      process.stdout.write(HELP)
      return
    case undefined:
    case '--help':
    case '-h':
      process.stdout.write(HELP)
      return
    default:
      throw gyroErrors.make(
        'COMMAND_UNKNOWN',
        `unknown command ${JSON.stringify(command)}${suggestion(command, COMMANDS) || ': use up, node, simulate, why, check, envtest or version, or see gyro --help'}`,
      )
  }
}
