/** Controllers, scheduler and nodes beside the API server of a test harness. Loaded only where they are asked for. */
import { Cluster, givesPodRanges, nodeIpam, simulatedNodes } from '@gyropilot/cluster/live'
import type { ClusterOptions, IpFamily } from '@gyropilot/cluster/live'
import type { Clock } from '@gyropilot/foundation'
import { familyOfRanges } from '../up/ip-family.ts'
import { takingPods } from '../up/nodes.ts'
import type { WantedParts } from './wanted-parts.ts'

/** Nodes and pods have addresses of the families that Services have ranges of. */
export class HarnessCluster {
  readonly server: Cluster['server']
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #family: IpFamily

  constructor(options: ClusterOptions, serviceRanges: readonly string[]) {
    this.#clock = options.clock
    this.#family = familyOfRanges(serviceRanges)
    const ranges = {
      ...nodeIpam(this.#family),
      serviceClusterIpRange: serviceRanges.join(','),
    }
    this.#cluster = new Cluster({ ...options, configuration: { nodeIpam: ranges } })
    this.server = this.#cluster.server
  }

  /** Resolves when all that is wanted does its work. */
  async start({ items, nodes }: WantedParts): Promise<void> {
    const cluster = this.#cluster
    await cluster.start()
    if (items.length > 0) await cluster.startControllerManager(items).ready
    if (nodes === 0) return
    await cluster.startScheduler().ready
    const settings = { withPodRanges: !givesPodRanges(items), family: this.#family }
    await cluster.startNodes(simulatedNodes(nodes, settings)).ready
    await takingPods(cluster.client(), this.#clock)
  }
}
