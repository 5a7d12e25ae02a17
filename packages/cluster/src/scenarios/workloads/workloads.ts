import type { Pod } from '@gyropilot/api'
import { controllerOf, isPodActive, isPodReady, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { deployment, pod, replicaSet } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const REPLICA_SET = 'replicaset-controller'
const DEPLOYMENT = 'deployment-controller'
const COLLECTOR = 'garbage-collector-controller'

/** Longer than anything takes that is not disturbed. */
const STEP_MS = 10_000
const PATIENCE_MS = 600_000

function podsOf(cluster: SimulatedCluster, app: string): readonly Pod[] {
  return cluster.objects
    .all(resources.pods, 'default')
    .filter((found) => found.metadata?.labels?.['app'] === app)
}

/** A user who looks before the next step. */
async function untilReady(cluster: SimulatedCluster, app: string, count: number): Promise<void> {
  const isReady = (): boolean => [...readyPods(cluster, app, count)].length === 0
  if (!(await cluster.until(isReady, PATIENCE_MS)))
    throw new Error(`${app} never had ${count} ready pods`)
}

function* readyPods(cluster: SimulatedCluster, app: string, count: number): Iterable<string> {
  const ready = podsOf(cluster, app).filter((found) => isPodActive(found) && isPodReady(found))
  if (ready.length !== count) yield `${app} has ${ready.length} ready pods and not ${count}`
}

function scale(
  cluster: SimulatedCluster,
  type: typeof resources.deployments | typeof resources.replicasets,
  name: string,
  replicas: number,
) {
  return cluster.client
    .resource(type as typeof resources.deployments, 'default')
    .patch(name, { type: 'merge', value: { spec: { replicas } } })
}

function setImage(cluster: SimulatedCluster, name: string, image: string) {
  const value = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } }
  return cluster.patch(resources.deployments, 'default', name, { type: 'strategic', value })
}

export const workloadScenarios: readonly Scenario[] = [
  {
    name: 'a ReplicaSet is made, grows and shrinks',
    controllers: [REPLICA_SET],
    async play(cluster) {
      await cluster.create(replicaSet('web', { replicas: 2 }))
      await cluster.advance(STEP_MS)
      await scale(cluster, resources.replicasets, 'web', 4)
      await cluster.advance(STEP_MS)
      await scale(cluster, resources.replicasets, 'web', 1)
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => readyPods(cluster, 'web', 1),
  },
  {
    name: 'pods of a ReplicaSet are deleted, taken away and brought in',
    controllers: [REPLICA_SET],
    async play(cluster) {
      await cluster.create(pod('own', { app: 'web' }))
      await cluster.create(replicaSet('web', { replicas: 3 }))
      await untilReady(cluster, 'web', 3)
      const names = podsOf(cluster, 'web')
        .map((found) => found.metadata?.name ?? '')
        .toSorted()
      await cluster.delete(resources.pods, 'default', names[0]!)
      const value = { metadata: { labels: { app: 'away' } } }
      await cluster.patch(resources.pods, 'default', names[1]!, { type: 'merge', value })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* readyPods(cluster, 'web', 3)
      const away = podsOf(cluster, 'away')
      if (away.length !== 1) yield `${away.length} pods were taken away and not 1`
      for (const found of away)
        if (controllerOf(found)) yield `${found.metadata?.name} still has an owner`
    },
  },
  {
    name: 'a Deployment rolls out a new template and back',
    controllers: [DEPLOYMENT, REPLICA_SET],
    async play(cluster) {
      await cluster.create(deployment('web', { replicas: 2 }))
      await cluster.advance(STEP_MS)
      await setImage(cluster, 'web', 'web:2')
      await cluster.advance(STEP_MS)
      await setImage(cluster, 'web', 'web:1')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* readyPods(cluster, 'web', 2)
      // One is right as well: a controller that is away meanwhile never sees the other template.
      const sets = cluster.objects.all(resources.replicasets, 'default')
      if (sets.length > 2) yield `there are ${sets.length} ReplicaSets and not 2`
    },
  },
  {
    name: 'a Deployment is paused, changed, scaled and resumed',
    controllers: [DEPLOYMENT, REPLICA_SET],
    async play(cluster) {
      await cluster.create(deployment('web', { replicas: 2 }))
      await cluster.advance(STEP_MS)
      const pause = (paused: boolean) =>
        cluster.patch(resources.deployments, 'default', 'web', {
          type: 'merge',
          value: { spec: { paused } },
        })
      await pause(true)
      await setImage(cluster, 'web', 'web:2')
      await scale(cluster, resources.deployments, 'web', 3)
      await cluster.advance(STEP_MS)
      await pause(false)
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => readyPods(cluster, 'web', 3),
  },
  {
    name: 'a Deployment recreates its pods',
    controllers: [DEPLOYMENT, REPLICA_SET],
    async play(cluster) {
      await cluster.create(
        deployment('web', { replicas: 2, spec: { strategy: { type: 'Recreate' } } }),
      )
      await cluster.advance(STEP_MS)
      await setImage(cluster, 'web', 'web:2')
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => readyPods(cluster, 'web', 2),
  },
  ...(['Background', 'Foreground', 'Orphan'] as const).map((policy): Scenario => ({
    name: `a Deployment is deleted with ${policy}`,
    controllers: [COLLECTOR, DEPLOYMENT, REPLICA_SET],
    async play(cluster) {
      await cluster.create(deployment('web', { replicas: 2 }))
      await untilReady(cluster, 'web', 2)
      await cluster.delete(resources.deployments, 'default', 'web', { propagationPolicy: policy })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const sets = cluster.objects.all(resources.replicasets, 'default')
      const wanted = policy === 'Orphan' ? 1 : 0
      if (cluster.objects.find(resources.deployments, 'default', 'web'))
        yield 'the Deployment is still there'
      if (sets.length !== wanted) yield `there are ${sets.length} ReplicaSets and not ${wanted}`
      for (const set of sets)
        if (controllerOf(set)) yield `${set.metadata?.name} still has an owner`
      yield* readyPods(cluster, 'web', wanted * 2)
    },
  })),
]
