/** The cluster that a kubeconfig names, for commands that work on any. */
import { loadClientConfig } from '@gyropilot/client'
import type { RestConfig } from '@gyropilot/client'
import { GyropilotError } from '@gyropilot/foundation'
import type { HostEnvironment, Logger } from '@gyropilot/foundation'
import { gyroErrors } from './errors.ts'
import type { RunningCluster } from './running/running-cluster.ts'

/** Empty: not given. */
interface ClusterChoice {
  readonly kubeconfig: string
  readonly context: string
}

/** `here`: the clusters that run in this folder. */
export async function namedCluster(
  { kubeconfig, context }: ClusterChoice,
  host: HostEnvironment,
  here: () => readonly RunningCluster[],
  logger?: Logger,
): Promise<RestConfig> {
  try {
    return await loadClientConfig(
      {
        ...(kubeconfig === '' ? {} : { kubeconfig }),
        ...(context === '' ? {} : { overrides: { context } }),
      },
      host,
      logger,
    )
  } catch (error) {
    const isMissing = error instanceof GyropilotError && error.code === 'CONFIGURATION_MISSING'
    if (!isMissing) throw error
    throw gyroErrors.make('CLUSTER_NOT_NAMED', `no kubeconfig names a cluster: ${ways(here())}`, {
      cause: error,
    })
  }
}

/** Who stands beside a cluster that runs means that one, most likely. */
function ways(here: readonly RunningCluster[]): string {
  const own = here.find(({ kubeconfig }) => kubeconfig !== '')
  const general = 'set KUBECONFIG, or use --kubeconfig'
  return own === undefined
    ? general
    : `${general}; that of this folder's cluster is ${own.kubeconfig}`
}
