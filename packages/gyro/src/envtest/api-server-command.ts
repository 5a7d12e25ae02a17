/** kube-apiserver as test harnesses start it: what it was asked for, and how that is refused. */
import { KUBERNETES_VERSION } from '@gyropilot/api'
import { GyropilotError, errorText } from '@gyropilot/foundation'
import { flagLines } from '../flag-help.ts'
import { allApiServerFlags, apiServerFlagOptions } from './api-server-options.ts'

const HELP = `A stand-in for kube-apiserver 1.36: the API server of gyropilot, which keeps its objects in memory.

With GYRO_CONTROLLERS=* in its environment it runs the controllers too, with a scheduler and simulated nodes: GYRO_NODES of
them, by default one. With a list (GYRO_CONTROLLERS=garbage-collector-controller,namespace-controller) only those, and no nodes
unless GYRO_NODES says so.

Usage:
  kube-apiserver [flags]

Flags:
`

export async function apiServerCommand(args: readonly string[]): Promise<void> {
  try {
    const options = apiServerFlagOptions(args)
    if (options.help) process.stdout.write(`${HELP}${flagLines(allApiServerFlags, 120)}`)
    else if (options.version) process.stdout.write(`Kubernetes v${KUBERNETES_VERSION}\n`)
    else {
      const { serve } = await import('./serve-api.ts')
      await serve(options)
    }
  } catch (error) {
    process.stderr.write(`Error: ${errorText(error)}\n`)
    process.exit(error instanceof GyropilotError ? error.exitCode : 1)
  }
}
