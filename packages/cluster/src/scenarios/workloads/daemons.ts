/** Stories of DaemonSets, and of pods whose node is gone. */
import type { Pod } from '@gyropilot/api'
import { isPodActive, isPodReady, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { daemonSet, pod } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const DAEMON_SET = 'daemonset-controller'
const COLLECTOR = 'pod-garbage-collector-controller'
const STEP_MS = 10_000
const PATIENCE_MS = 600_000

function* readyPods(cluster: SimulatedCluster, app: string, count: number): Iterable<string> {
  const isOwn = (found: Pod): boolean => found.metadata?.labels?.['app'] === app
  const ready = cluster.objects
    .all(resources.pods, 'default')
    .filter((found) => isOwn(found) && isPodActive(found) && isPodReady(found))
  if (ready.length !== count) yield `${app} has ${ready.length} ready pods and not ${count}`
}

async function untilReady(cluster: SimulatedCluster, app: string, count: number): Promise<void> {
  const isReady = (): boolean => [...readyPods(cluster, app, count)].length === 0
  if (!(await cluster.until(isReady, PATIENCE_MS)))
    throw new Error(`${app} never had ${count} ready pods`)
}

function setImage(cluster: SimulatedCluster, image: string) {
  const value = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } }
  return cluster.patch(resources.daemonsets, 'default', 'agent', { type: 'strategic', value })
}

function patchNode(cluster: SimulatedCluster, name: string, value: object) {
  return cluster.patch(resources.nodes, undefined, name, { type: 'merge', value })
}

export const daemonScenarios: readonly Scenario[] = [
  {
    name: 'a DaemonSet is made and rolled, and back',
    controllers: [DAEMON_SET],
    nodes: 2,
    async play(cluster) {
      await cluster.create(daemonSet('agent'))
      await untilReady(cluster, 'agent', 2)
      await setImage(cluster, 'agent:2')
      await cluster.advance(STEP_MS)
      await setImage(cluster, 'agent:1')
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => readyPods(cluster, 'agent', 2),
  },
  {
    name: 'a DaemonSet is rolled with a surge',
    controllers: [DAEMON_SET],
    nodes: 2,
    async play(cluster) {
      const rollingUpdate = { maxUnavailable: 0, maxSurge: 1 }
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate } as const
      await cluster.create(daemonSet('agent', { spec: { updateStrategy, minReadySeconds: 2 } }))
      await untilReady(cluster, 'agent', 2)
      await setImage(cluster, 'agent:2')
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => readyPods(cluster, 'agent', 2),
  },
  {
    name: 'nodes leave the pool of a DaemonSet and come back',
    controllers: [DAEMON_SET],
    nodes: 2,
    async play(cluster) {
      for (const name of ['node-1', 'node-2'])
        await patchNode(cluster, name, { metadata: { labels: { pool: 'red' } } })
      await cluster.create(daemonSet('agent', { nodeSelector: { pool: 'red' } }))
      await untilReady(cluster, 'agent', 2)
      await patchNode(cluster, 'node-1', { metadata: { labels: { pool: null } } })
      const taints = [{ key: 'example.com/dedicated', effect: 'NoExecute' }]
      await patchNode(cluster, 'node-2', { spec: { taints } })
      await cluster.advance(STEP_MS)
      await patchNode(cluster, 'node-1', { metadata: { labels: { pool: 'red' } } })
      await patchNode(cluster, 'node-2', { spec: { taints: null } })
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => readyPods(cluster, 'agent', 2),
  },
  {
    name: 'pods of nodes that are gone, and pods that no node took',
    controllers: [COLLECTOR],
    async play(cluster) {
      for (const name of ['lost', 'late']) {
        const base = pod(name, { app: name })
        await cluster.create({ ...base, spec: { ...base.spec!, nodeName: 'gone' } })
      }
      await cluster.create(pod('stays', { app: 'stays' }))
      const gated = pod('gated', { app: 'gated' })
      const schedulingGates = [{ name: 'example.com/wait' }]
      await cluster.create({ ...gated, spec: { ...gated.spec!, schedulingGates } })
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'gated')
      await cluster.advance(90_000)
    },
    *ends(cluster) {
      yield* readyPods(cluster, 'stays', 1)
      const names = cluster.objects
        .all(resources.pods, 'default')
        .map(({ metadata }) => metadata?.name)
      if (names.join() !== 'stays') yield `pods ${names.join(', ')} are left and not stays`
    },
  },
]
