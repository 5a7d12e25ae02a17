/** Controllers, scheduler and nodes beside the API server of a test harness. Loaded only where they are asked for. */
import { givesPodRanges, simulatedNodes } from '@gyropilot/cluster/live'
import type { Cluster } from '@gyropilot/cluster/live'
import type { Clock } from '@gyropilot/foundation'
import { takingPods } from '../up/nodes.ts'
import type { WantedParts } from './wanted-parts.ts'

export { Cluster } from '@gyropilot/cluster/live'

/** Resolves when all do their work. */
export async function startParts(
  cluster: Cluster,
  { items, nodes }: WantedParts,
  clock: Clock,
): Promise<void> {
  if (items.length > 0) await cluster.startControllerManager(items).ready
  if (nodes === 0) return
  await cluster.startScheduler().ready
  const withPodRanges = !givesPodRanges(items)
  await cluster.startNodes(simulatedNodes(nodes, { withPodRanges })).ready
  await takingPods(cluster.client(), clock)
}
