/** What upstream's end-to-end and integration tests say of disruption budgets, on a whole cluster. */
import assert from 'node:assert/strict'
import { findCondition, isPodReady, resources } from '@gyropilot/api'
import type {
  KubernetesObject,
  Pod,
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  ResourceType,
} from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import { pod, replicaSet } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 60_000
const TYPE = resources.poddisruptionbudgets

function budget(spec: PodDisruptionBudgetSpec, name = 'b'): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  }
}

async function allowed(world: World, count: number, name = 'b'): Promise<PodDisruptionBudget> {
  return await world.until(`${count} disruptions allowed`, WITHIN_MS, async () => {
    const found = await world.find(TYPE, name)
    const isObserved = found?.status?.observedGeneration === found?.metadata?.generation
    return isObserved && found?.status?.disruptionsAllowed === count ? found : undefined
  })
}

async function readyPods(world: World, count: number): Promise<readonly Pod[]> {
  return await world.until(`${count} ready pods`, WITHIN_MS, async () => {
    const all = (await world.list(resources.pods)).filter(isPodReady)
    return all.length === count ? all : undefined
  })
}

/** `created`, or the code that it was refused with. */
async function evict(world: World, name: string): Promise<'created' | number> {
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: 'default' },
  }
  try {
    await world.of(resources.pods).createSubresource(name, 'eviction', eviction)
    return 'created'
  } catch (error) {
    assert.ok(error instanceof StatusError)
    return error.status.code ?? 0
  }
}

const own = (name: string) => pod(name, { labels: { app: 'web' } })

scenario(
  'Given minAvailable 2 and 2 pods, then eviction is denied; with 3 pods allowed',
  async (world) => {
    await world.of(TYPE).create(budget({ minAvailable: 2 }))
    for (const name of ['p1', 'p2']) await world.of(resources.pods).create(own(name))
    await readyPods(world, 2)
    await allowed(world, 0)
    assert.equal(await evict(world, 'p1'), 429)
    await world.of(resources.pods).create(own('p3'))
    await allowed(world, 1)
    assert.equal(await evict(world, 'p1'), 'created')
    assert.equal(await evict(world, 'p2'), 429)
  },
)

scenario(
  'Given a blocked eviction, when the PDB is relaxed or deleted, then eviction proceeds',
  async (world) => {
    await world.of(resources.replicasets).create(replicaSet('web', { replicas: 3 }))
    const [first, second] = await readyPods(world, 3)
    await world.of(TYPE).create(budget({ maxUnavailable: 0 }))
    await allowed(world, 0)
    assert.equal(await evict(world, first!.metadata!.name!), 429)
    const value = { spec: { maxUnavailable: 1 } }
    await world.of(TYPE).patch('b', { type: 'merge', value })
    await allowed(world, 1)
    assert.equal(await evict(world, first!.metadata!.name!), 'created')
    await world.of(TYPE).patch('b', { type: 'merge', value: { spec: { maxUnavailable: 0 } } })
    await allowed(world, 0)
    assert.equal(await evict(world, second!.metadata!.name!), 429)
    await world.of(TYPE).delete('b')
    await world.advance(1_000)
    assert.equal(await evict(world, second!.metadata!.name!), 'created')
  },
)

scenario(
  'Given selector `{}` in policy/v1 and 4 ready pods, then currentHealthy 4; in v1beta1 semantics 0',
  async (world) => {
    for (const name of ['p1', 'p2', 'p3', 'p4']) await world.of(resources.pods).create(own(name))
    await readyPods(world, 4)
    await world.of(TYPE).create(budget({ minAvailable: 1, selector: {} }, 'all'))
    const { spec: _, ...bare } = budget({})
    const none = { ...bare, metadata: { ...bare.metadata, name: 'none' } }
    await world.of(TYPE).create({ ...none, spec: { minAvailable: 1 } })
    assert.equal((await allowed(world, 3, 'all')).status?.currentHealthy, 4)
    assert.equal((await allowed(world, 0, 'none')).status?.currentHealthy, 0)
  },
)

scenario('evicted pods that go give their place back to the next', async (world) => {
  await world.of(resources.replicasets).create(replicaSet('web', { replicas: 3 }))
  await readyPods(world, 3)
  await world.of(TYPE).create(budget({ maxUnavailable: '34%' }))
  // Two of three, rounded up.
  await allowed(world, 2)
  for (let round = 0; round < 2; round++) {
    const [one, two, three] = await readyPods(world, 3)
    assert.equal(await evict(world, one!.metadata!.name!), 'created')
    assert.equal(await evict(world, two!.metadata!.name!), 'created')
    assert.equal(await evict(world, three!.metadata!.name!), 429)
    const found = await allowed(world, 2)
    assert.deepEqual(found.status?.disruptedPods ?? {}, {})
  }
})

scenario(
  'a pod that was evicted and stays is unhealthy for two minutes, and then there is an event',
  async (world) => {
    for (const name of ['p1', 'p2']) await world.of(resources.pods).create(own(name))
    await readyPods(world, 2)
    await world.of(TYPE).create(budget({ minAvailable: 1 }))
    await allowed(world, 1)
    const now = new Date(world.clock.nowMs()).toISOString().replace(/\.\d+/, '')
    const status = { disruptionsAllowed: 0, disruptedPods: { p1: now } }
    await world.of(TYPE).patch('b', { type: 'merge', value: { status } }, { subresource: 'status' })
    await world.advance(115_000)
    assert.equal((await allowed(world, 0)).status?.currentHealthy, 1)
    await world.advance(10_000)
    assert.equal((await allowed(world, 1)).status?.disruptedPods?.['p1'], undefined)
    await world.advance(2_000)
    const reasons = (await world.list(resources.events)).map(({ reason }) => reason)
    assert.ok(reasons.includes('NotDeleted'))
  },
)

scenario(
  'an announced disruption that did not happen is taken back after two minutes',
  async (world) => {
    await world.of(resources.pods).create(own('p'))
    await readyPods(world, 1)
    const found = await world.find(resources.pods, 'p')
    const now = new Date(world.clock.nowMs()).toISOString().replace(/\.\d+/, '')
    const announced = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }
    const conditions = [
      ...(found?.status?.conditions ?? []),
      { ...announced, lastTransitionTime: now },
    ]
    await world
      .of(resources.pods)
      .patch('p', { type: 'merge', value: { status: { conditions } } }, { subresource: 'status' })
    const target = async () =>
      findCondition((await world.find(resources.pods, 'p'))?.status?.conditions, 'DisruptionTarget')
    await world.advance(118_000)
    assert.equal((await target())?.status, 'True')
    await world.advance(5_000)
    assert.equal((await target())?.status, 'False')
  },
)

const WORKLOADS: ResourceType = {
  group: 'apps.test.io',
  version: 'v1',
  resource: 'workloads',
  kind: 'Workload',
  namespaced: true,
}

function definition(scale: boolean): KubernetesObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'workloads.apps.test.io' },
    spec: {
      group: 'apps.test.io',
      names: { plural: 'workloads', singular: 'workload', kind: 'Workload' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
          ...(scale
            ? {
                subresources: {
                  scale: {
                    specReplicasPath: '.spec.replicas',
                    statusReplicasPath: '.status.replicas',
                  },
                },
              }
            : {}),
        },
      ],
    },
  } as KubernetesObject
}

for (const scale of [true, false]) {
  scenario(
    `a share of what a custom owner asks for ${scale ? 'is found through its scale' : 'is not known without a scale'}`,
    async (world) => {
      await world.of(resources.customresourcedefinitions).create(definition(scale) as never)
      await world.advance(2_000)
      const owner = await world.of(WORKLOADS).create({
        apiVersion: 'apps.test.io/v1',
        kind: 'Workload',
        metadata: { name: 'w', namespace: 'default' },
        spec: { replicas: 4 },
      } as KubernetesObject)
      const reference = { apiVersion: 'apps.test.io/v1', kind: 'Workload', name: 'w' }
      for (const name of ['p1', 'p2', 'p3']) {
        const { metadata, ...rest } = own(name)
        const uid = owner.metadata!.uid!
        const ownerReferences = [{ ...reference, uid, controller: true }]
        await world
          .of(resources.pods)
          .create({ ...rest, metadata: { ...metadata, ownerReferences } })
      }
      await readyPods(world, 3)
      await world.of(TYPE).create(budget({ minAvailable: '50%' }))
      const { status } = await allowedOrFailed(world)
      const condition = findCondition(status?.conditions, 'DisruptionAllowed')
      if (scale) {
        assert.deepEqual(
          [status?.expectedPods, status?.desiredHealthy, status?.disruptionsAllowed],
          [4, 2, 1],
        )
      } else {
        assert.equal(condition?.reason, 'SyncFailed')
        assert.match(
          condition?.message ?? '',
          /workloads\.apps\.test\.io does not implement the scale subresource/,
        )
      }
    },
  )
}

async function allowedOrFailed(world: World): Promise<PodDisruptionBudget> {
  return await world.until('the budget was looked at', WITHIN_MS, async () => {
    const found = await world.find(TYPE, 'b')
    return findCondition(found?.status?.conditions, 'DisruptionAllowed') ? found : undefined
  })
}

for (const policy of ['IfHealthyBudget', 'AlwaysAllow'] as const) {
  scenario(
    `a pod that is not ready is evicted past a budget that is not met only with AlwaysAllow: ${policy}`,
    async (world) => {
      await world.of(TYPE).create(budget({ minAvailable: 2, unhealthyPodEvictionPolicy: policy }))
      await world.of(resources.pods).create(own('ready'))
      const broken = own('broken')
      const annotations = { 'sim.kubelet/ready-after': '1h' }
      const metadata = { ...broken.metadata, annotations }
      await world.of(resources.pods).create({ ...broken, metadata })
      await world.until('both run', WITHIN_MS, async () => {
        const phases = (await world.list(resources.pods)).map(({ status }) => status?.phase)
        return phases.join() === 'Running,Running' ? true : undefined
      })
      await world.advance(2_000)
      assert.equal((await allowed(world, 0)).status?.currentHealthy, 1)
      assert.equal(await evict(world, 'broken'), policy === 'AlwaysAllow' ? 'created' : 429)
      assert.equal(await evict(world, 'ready'), 429)
    },
  )
}
