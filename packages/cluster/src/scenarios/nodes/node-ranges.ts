/** Stories of the controller that gives nodes the ranges of their pods. */
import type { Node } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { nodeIpam } from '../../pod-ranges.ts'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 10_000
const PATIENCE_MS = 900_000

/** Not ready, and nobody runs it. */
function bareNode(name: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } }
}

function rangeOf(cluster: SimulatedCluster, name: string): string | undefined {
  return cluster.objects.find(resources.nodes, undefined, name)?.spec?.podCIDR
}

async function untilAllHave(cluster: SimulatedCluster, names: readonly string[]): Promise<void> {
  const allHave = (): boolean => names.every((name) => rangeOf(cluster, name) !== undefined)
  if (!(await cluster.until(allHave, PATIENCE_MS)))
    throw new Error(`${names.filter((name) => !rangeOf(cluster, name)).join()} got no range`)
}

async function removeAll(cluster: SimulatedCluster, names: readonly string[]): Promise<void> {
  for (const name of names) await cluster.delete(resources.nodes, undefined, name)
}

export const nodeRangeScenarios: readonly Scenario[] = [
  {
    name: 'nodes come and go, and what one leaves another gets',
    controllers: ['node-ipam-controller'],
    // Four nodes in all, so that what is freed is needed.
    configuration: { nodeIpam: { ...nodeIpam('ipv4'), clusterCidr: '10.224.0.0/22' } },
    async play(cluster) {
      const spares = ['a', 'b', 'c']
      for (const name of spares) await cluster.create(bareNode(name))
      await untilAllHave(cluster, spares)
      await cluster.create(bareNode('late'))
      await cluster.advance(STEP_MS)
      if (rangeOf(cluster, 'late') !== undefined) throw new Error('late has a range')
      await removeAll(cluster, ['b'])
      await untilAllHave(cluster, ['late'])
      // A namesake, with no time to see that the other went.
      await removeAll(cluster, ['a'])
      await cluster.create(bareNode('a'))
      await untilAllHave(cluster, ['a'])
      await removeAll(cluster, ['a', 'c', 'late'])
      await cluster.advance(STEP_MS)
    },
  },
  {
    name: 'another manager goes on handing out ranges',
    controllers: ['node-ipam-controller'],
    managers: 2,
    configuration: { nodeIpam: { ...nodeIpam('ipv4'), clusterCidr: '10.224.0.0/22' } },
    async play(cluster) {
      await cluster.create(bareNode('a'))
      await cluster.create(bareNode('b'))
      await cluster.advance(50)
      cluster.process('controller-manager-1').crash()
      await cluster.create(bareNode('c'))
      await untilAllHave(cluster, ['a', 'b', 'c'])
      await removeAll(cluster, ['a', 'b', 'c'])
      await cluster.advance(STEP_MS)
    },
  },
]
