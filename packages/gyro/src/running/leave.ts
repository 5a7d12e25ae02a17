/** The traces of a cluster that has ended, or is about to, go. */
import { GyropilotError } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { takeOut } from '../kubeconfig/merge.ts'
import type { ClusterRegistry } from './registry.ts'
import type { RunningCluster } from './running-cluster.ts'

/** Its entries in the kubeconfig that it was merged into, and its file. The file goes also when the entries cannot. */
export async function leave(
  cluster: RunningCluster,
  registry: ClusterRegistry,
  clock: Clock,
): Promise<void> {
  try {
    if (cluster.merged !== undefined) await takeOut(cluster.merged, cluster, clock)
  } finally {
    registry.remove(cluster.processId)
  }
}

/** Of clusters that were killed. A kubeconfig that cannot be written now is no reason not to go on. */
export async function forgetLeft(
  registry: ClusterRegistry,
  clock: Clock,
): Promise<readonly RunningCluster[]> {
  const left = registry.left()
  for (const cluster of left) {
    try {
      await leave(cluster, registry, clock)
    } catch (error) {
      if (!(error instanceof GyropilotError)) throw error
    }
  }
  return left
}
