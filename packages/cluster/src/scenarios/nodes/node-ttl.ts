/** How long nodes may remember Secrets and ConfigMaps: the longer, the more nodes there are. */
import type { Node } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { untilSo } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const TTL = 'node.alpha.kubernetes.io/ttl'
const DAY_MS = 24 * 3_600_000
const STEP_MS = 5_000

/** Nobody runs it. */
function bareNode(name: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } }
}

const ttlOf = (cluster: SimulatedCluster, name: string) =>
  cluster.objects.find(resources.nodes, undefined, name)?.metadata?.annotations?.[TTL]

const annotate = (cluster: SimulatedCluster, name: string, annotations: object) =>
  cluster.patch(resources.nodes, undefined, name, {
    type: 'merge',
    value: { metadata: { annotations } },
  })

/** As kubelets do now and then. */
async function report(cluster: SimulatedCluster, names: readonly string[]): Promise<void> {
  for (const name of names)
    await annotate(cluster, name, { 'example.com/at': `${cluster.virtualMs}` })
}

const untilHave = (cluster: SimulatedCluster, names: readonly string[], ttl: string) =>
  untilSo(cluster, `${names.join()} have ${ttl}`, () =>
    names.every((name) => ttlOf(cluster, name) === ttl),
  )

const FIRST = ['a', 'b']
const OTHERS = Array.from({ length: 97 }, (_, index) => `other-${index}`)
/** Of the first step. */
const MOST_NODES = 100
const LATE = ['late-1', 'late-2', 'late-3']

export const nodeTtlScenarios: readonly Scenario[] = [
  {
    name: 'a hundred nodes are not many, and two more are',
    controllers: ['ttl-controller'],
    nodes: 0,
    // Nobody minds that nodes say nothing.
    configuration: {
      nodeLifecycle: {
        ...defaultControllersConfiguration.nodeLifecycle,
        nodeMonitorGracePeriodMs: DAY_MS,
        nodeStartupGracePeriodMs: DAY_MS,
      },
    },
    installed: FIRST.map(bareNode),
    /** One more is as many as one step has. */
    async prepare(cluster) {
      const missing = MOST_NODES - 1 - cluster.objects.all(resources.nodes).length
      for (const name of OTHERS.slice(0, missing)) await cluster.create(bareNode(name))
    },
    async play(cluster) {
      await annotate(cluster, 'a', { [TTL]: '15s' })
      await annotate(cluster, 'b', { [TTL]: null })
      await untilHave(cluster, FIRST, '0')
      for (const name of LATE) await cluster.create(bareNode(name))
      // The last two know that they are more than a hundred.
      await untilHave(cluster, LATE.slice(1), '15')
      await report(cluster, FIRST)
      await untilHave(cluster, FIRST, '15')
      for (const name of [...LATE, ...OTHERS.slice(0, 10)])
        await cluster.delete(resources.nodes, undefined, name)
      await cluster.advance(4 * STEP_MS)
      await report(cluster, FIRST)
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      for (const name of FIRST)
        if (ttlOf(cluster, name) !== '0') yield `${name} has ${ttlOf(cluster, name)}`
      for (const { metadata } of cluster.objects.all(resources.nodes)) {
        const ttl = metadata?.annotations?.[TTL]
        if (ttl !== '0' && ttl !== '15') yield `${metadata?.name} has ${ttl}`
      }
    },
  },
]
