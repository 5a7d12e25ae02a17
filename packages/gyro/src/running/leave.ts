/** The traces of a cluster that has ended, or is about to, go. */
import { rmSync } from 'node:fs'
import { GyropilotError } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { takeOut } from '../kubeconfig/merge.ts'
import type { ClusterRegistry } from './registry.ts'
import type { RunningCluster } from './running-cluster.ts'

/** Its entries in the kubeconfig that it was merged into, its keys, and its file. These go also when the entries cannot. */
export async function leave(
  cluster: RunningCluster,
  registry: ClusterRegistry,
  clock: Clock,
): Promise<void> {
  try {
    if (cluster.merged !== undefined) await takeOut(cluster.merged, cluster, clock)
  } finally {
    removeKeys(cluster, registry)
    registry.remove(cluster.processId)
  }
}

/** Not those of a cluster that was told to use the same files since, and runs. */
function removeKeys({ processId, keyFiles = [] }: RunningCluster, registry: ClusterRegistry): void {
  const used = registry
    .running()
    .flatMap((other) => (other.processId === processId ? [] : (other.keyFiles ?? [])))
  for (const file of keyFiles) {
    if (!used.includes(file)) rmSync(file, { force: true })
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
