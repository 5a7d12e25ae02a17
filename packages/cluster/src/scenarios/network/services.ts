/** Stories of ReplicationControllers, Endpoints and budgets. */
import { isPodActive, isPodReady, resources } from '@gyropilot/api'
import type { Endpoints, EndpointSubset } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { pod, podDisruptionBudget, replicaSet, replicationController, service } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 10_000
const PATIENCE_MS = 600_000

function readyNames(cluster: SimulatedCluster, app: string): readonly string[] {
  return cluster.objects
    .all(resources.pods, 'default')
    .filter(({ metadata }) => metadata?.labels?.['app'] === app)
    .filter((found) => isPodActive(found) && isPodReady(found))
    .map(({ metadata }) => metadata?.name ?? '')
}

async function untilReady(cluster: SimulatedCluster, app: string, count: number): Promise<void> {
  const isReady = (): boolean => readyNames(cluster, app).length === count
  if (!(await cluster.until(isReady, PATIENCE_MS)))
    throw new Error(`${app} never had ${count} ready pods`)
}

function addressesOf(cluster: SimulatedCluster, name: string): number {
  const { subsets } = cluster.objects.find(resources.endpoints, 'default', name) ?? {}
  return (subsets ?? []).reduce((sum, { addresses }) => sum + (addresses?.length ?? 0), 0)
}

/** Whether the pod may go. */
async function evict(cluster: SimulatedCluster, name: string): Promise<boolean> {
  const metadata = { namespace: 'default', name }
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata }
  try {
    const pods = cluster.client.resource(resources.pods, 'default')
    await pods.createSubresource(name, 'eviction', eviction)
    return true
  } catch {
    return false
  }
}

const subset = (ip: string, port: number): EndpointSubset => ({
  addresses: [{ ip }],
  ports: [{ port, protocol: 'TCP' }],
})

/** Of Service `kept`, which has no selector. */
async function keep(cluster: SimulatedCluster, subsets: readonly EndpointSubset[]): Promise<void> {
  const { spec, ...rest } = service('kept', 'web')
  const { selector: _, ...without } = spec!
  await cluster.create({ ...rest, spec: without })
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'kept', namespace: 'default' },
    subsets,
  } as Endpoints)
}

export const serviceScenarios: readonly Scenario[] = [
  {
    name: 'a ReplicationController adopts, grows and shrinks',
    controllers: ['replicationcontroller-controller'],
    async play(cluster) {
      await cluster.create(pod('lone', { app: 'web' }))
      await cluster.create(replicationController('web', { replicas: 2 }))
      await cluster.advance(STEP_MS)
      const scale = (replicas: number) =>
        cluster.patch(resources.replicationcontrollers, 'default', 'web', {
          type: 'merge',
          value: { spec: { replicas } },
        })
      await scale(3)
      await cluster.advance(STEP_MS)
      await scale(1)
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const count = readyNames(cluster, 'web').length
      if (count !== 1) yield `web has ${count} ready pods and not 1`
    },
  },
  {
    name: 'Endpoints follow a Service and its pods',
    controllers: ['endpoints-controller'],
    async play(cluster) {
      await cluster.create(service('web', 'web'))
      await cluster.create(service('brief', 'web'))
      await cluster.create(replicaSet('web', { replicas: 2 }))
      const isListed = (): boolean =>
        ['web', 'brief'].every((name) => addressesOf(cluster, name) === 2)
      if (!(await cluster.until(isListed, PATIENCE_MS))) throw new Error('no Endpoints of two pods')
      await cluster.delete(resources.endpoints, 'default', 'web')
      await cluster.delete(resources.services, 'default', 'brief')
      await cluster.patch(resources.replicasets, 'default', 'web', {
        type: 'merge',
        value: { spec: { replicas: 1 } },
      })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (cluster.objects.find(resources.endpoints, 'default', 'brief'))
        yield 'Service brief still has Endpoints'
    },
  },
  {
    name: 'Endpoints that are kept by hand are mirrored until the Service selects pods',
    controllers: ['endpointslice-mirroring-controller', 'endpointslice-controller'],
    async play(cluster) {
      await cluster.create(replicaSet('web', { replicas: 1 }))
      await keep(cluster, [subset('10.1.2.3', 80), subset('fd00::1', 81)])
      await cluster.advance(STEP_MS)
      await cluster.patch(resources.endpoints, 'default', 'kept', {
        type: 'merge',
        value: { subsets: [subset('10.1.2.4', 82)] },
      })
      await cluster.advance(STEP_MS)
      await cluster.patch(resources.services, 'default', 'kept', {
        type: 'merge',
        value: { spec: { selector: { app: 'web' } } },
      })
      await cluster.advance(STEP_MS)
    },
  },
  {
    name: 'a budget lets one pod after the other go',
    controllers: ['disruption-controller'],
    async play(cluster) {
      await cluster.create(replicaSet('web', { replicas: 2 }))
      await untilReady(cluster, 'web', 2)
      await cluster.create(podDisruptionBudget('web', { app: 'web' }))
      await cluster.advance(STEP_MS)
      for (let round = 0; round < 2; round++) {
        const [first, second] = readyNames(cluster, 'web')
        await cluster.during(() => evict(cluster, first ?? ''))
        await cluster.during(() => evict(cluster, second ?? ''))
        await untilReady(cluster, 'web', 2)
        await cluster.advance(STEP_MS)
      }
    },
    *ends(cluster) {
      const count = readyNames(cluster, 'web').length
      if (count !== 2) yield `web has ${count} ready pods and not 2`
    },
  },
]
