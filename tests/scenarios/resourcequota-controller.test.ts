/** Quotas: who counts, when, and who is refused. Contract: docs/behaviour/controllers/resourcequota-controller.md. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Pod, ResourceType, Service } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

type Amounts = Readonly<Record<string, string>>

const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}

async function quota(world: World, name: string, hard: Amounts, spec: object = {}): Promise<void> {
  await world.of(resources.resourcequotas).create({ metadata: { name }, spec: { hard, ...spec } })
  await world.until(`${name} has a status`, 10_000, async () => {
    const found = await world.find(resources.resourcequotas, name)
    return found?.status?.used === undefined ? undefined : true
  })
}

/** The namespace `default` has a Service of its own. */
async function inNamespace(world: World, namespace: string): Promise<World> {
  await world.of(resources.namespaces).create({ metadata: { name: namespace } })
  return {
    ...world,
    of: (type) => world.of(type, namespace),
    find: (type, name) => world.find(type, name, namespace),
  }
}

async function untilUsed(
  world: World,
  name: string,
  expected: Amounts,
  withinMs = 10_000,
): Promise<void> {
  let used: object = {}
  const reached = world.until(`${name} ${JSON.stringify(expected)}`, withinMs, async () => {
    used = (await world.find(resources.resourcequotas, name))?.status?.used ?? {}
    const isReached = Object.entries(expected).every(
      ([entry, amount]) => (used as Amounts)[entry] === amount,
    )
    return isReached ? true : undefined
  })
  await reached.catch((error: Error) => assert.fail(`${error.message}: ${JSON.stringify(used)}`))
}

const pod = (name: string, spec: object = {}): Pod =>
  ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'nginx:1.27' }], ...spec },
  }) as Pod

async function refused(attempt: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(attempt, (error: Error & { code?: number }) => {
    assert.match(error.message, message)
    return true
  })
}

const template = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'nginx:1.27' }] },
}

scenario(
  'Given a created quota, then status.hard and used appear promptly; same for life of service, secret, pod, config map, RC, RS, PVC, custom resource: used rises on create, falls on delete',
  async (world) => {
    const definition = {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    }
    await world.of(resources.customresourcedefinitions).create(definition)
    const lives: readonly (readonly [string, ResourceType, KubernetesObject])[] = [
      [
        'services',
        resources.services,
        { metadata: { name: 'x' }, spec: { ports: [{ port: 80 }] } } as Service,
      ],
      ['secrets', resources.secrets, { metadata: { name: 'x' } }],
      ['pods', resources.pods, pod('x', { terminationGracePeriodSeconds: 1 })],
      ['count/configmaps', resources.configmaps, { metadata: { name: 'x' } }],
      [
        'replicationcontrollers',
        resources.replicationcontrollers,
        {
          metadata: { name: 'x' },
          spec: { replicas: 0, selector: { app: 'x' }, template },
        } as KubernetesObject,
      ],
      [
        'count/replicasets.apps',
        resources.replicasets,
        {
          metadata: { name: 'x' },
          spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template },
        } as KubernetesObject,
      ],
      [
        'requests.storage',
        resources.persistentvolumeclaims,
        {
          metadata: { name: 'x' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: '',
            resources: { requests: { storage: '1' } },
          },
        } as KubernetesObject,
      ],
      [
        'count/widgets.example.com',
        WIDGETS,
        { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'x' } },
      ],
    ]
    // New CRDs are counted after the next discovery round (up to 30s).
    await world.advance(35_000)
    await quota(world, 'q', Object.fromEntries(lives.map(([name]) => [name, '5'])))
    const start = (await world.find(resources.resourcequotas, 'q'))?.status?.used as Amounts
    assert.deepEqual(Object.keys(start).toSorted(), lives.map(([name]) => name).toSorted())
    for (const [name, type, object] of lives) {
      const before = start[name]!
      await world.of(type).create(object)
      await untilUsed(world, 'q', { [name]: String(Number(before) + 1) })
      // Deleted before the controller has heard of the charge, it would stay charged until all is counted anew: as upstream.
      await world.advance(1_000)
      await world.of(type).delete('x')
      await untilUsed(world, 'q', { [name]: before }, 60_000)
    }
  },
)

scenario(
  'Given terminating/best-effort/priority/cross-namespace/volume-attributes scopes, then only matching objects count',
  async (world) => {
    await world.of(resources.priorityclasses).create({ metadata: { name: 'high' }, value: 7 })
    const selecting = (scopeName: string, ...values: string[]) => ({
      scopeSelector: { matchExpressions: [{ scopeName, operator: 'In', values }] },
    })
    await quota(world, 'ending', { pods: '5' }, { scopes: ['Terminating'] })
    await quota(world, 'lasting', { pods: '5' }, { scopes: ['NotTerminating'] })
    await quota(world, 'idle', { pods: '5' }, { scopes: ['BestEffort'] })
    await quota(world, 'high', { pods: '5' }, selecting('PriorityClass', 'high'))
    await quota(world, 'cross', { pods: '5' }, { scopes: ['CrossNamespacePodAffinity'] })
    const gold = selecting('VolumeAttributesClass', 'gold')
    await quota(world, 'gold', { persistentvolumeclaims: '5' }, gold)
    const pods = world.of(resources.pods)
    const resourcesOf = { resources: { requests: { cpu: '1m' } } }
    const busy = { containers: [{ name: 'c', image: 'i', ...resourcesOf }] }
    const term = { topologyKey: 'zone', namespaces: ['other'], labelSelector: {} }
    const affinity = {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
      },
    }
    await pods.create(pod('plain'))
    await pods.create(pod('ending', { activeDeadlineSeconds: 3600, ...busy }))
    await pods.create(pod('high', { priorityClassName: 'high', ...busy }))
    await pods.create(pod('cross', { affinity }))
    for (const name of ['gold', 'iron']) {
      const claim = {
        metadata: { name },
        spec: {
          accessModes: ['ReadWriteOnce' as const],
          storageClassName: 'none',
          volumeAttributesClassName: name,
          resources: { requests: { storage: '1Gi' } },
        },
      }
      await world.of(resources.persistentvolumeclaims).create(claim)
    }
    const expected = { ending: '1', lasting: '3', idle: '2', high: '1', cross: '1' }
    for (const [name, count] of Object.entries(expected))
      await untilUsed(world, name, { pods: count })
    await untilUsed(world, 'gold', { persistentvolumeclaims: '1' })
    // Counted anew, it comes to the same.
    await world.advance(301_000)
    for (const [name, count] of Object.entries(expected))
      await untilUsed(world, name, { pods: count }, 0)
    await untilUsed(world, 'gold', { persistentvolumeclaims: '1' }, 0)
  },
)

scenario(
  'Given an RC scaled in a quota namespace, then all pods start and used settles',
  async (world) => {
    await quota(world, 'q', { pods: '20', 'count/pods': '20' })
    await world.of(resources.replicationcontrollers).create({
      metadata: { name: 'rc' },
      spec: { replicas: 15, selector: { app: 'x' }, template },
    })
    await world.until('all are running', 60_000, async () => {
      const pods = await world.list(resources.pods)
      const running = pods.filter(({ status }) => status?.phase === 'Running')
      return running.length === 15 ? true : undefined
    })
    await untilUsed(world, 'q', { pods: '15', 'count/pods': '15' })
    await world.of(resources.replicationcontrollers).patch('rc', {
      type: 'merge',
      value: { spec: { replicas: 30 } },
    })
    await untilUsed(world, 'q', { pods: '20', 'count/pods': '20' }, 60_000)
    await world.advance(5_000)
    assert.equal((await world.list(resources.pods)).length, 20)
  },
)

scenario(
  'Given services 4, nodeports 2, loadbalancers 2, then one NodePort plus one LoadBalancer use 2 node ports, a further LoadBalancer is 403 unless node port allocation is off, ClusterIP still fits until 4 Services exist',
  async (cluster) => {
    const world = await inNamespace(cluster, 'team')
    await quota(world, 'q', {
      services: '4',
      'services.nodeports': '2',
      'services.loadbalancers': '2',
    })
    const create = (name: string, type: string, spec: object = {}) =>
      world.of(resources.services).create({
        metadata: { name },
        spec: { type, ports: [{ port: 80 }], ...spec },
      } as Service)
    await create('n', 'NodePort')
    await create('l', 'LoadBalancer')
    await refused(
      create('l2', 'LoadBalancer'),
      /exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=2, limited: services.nodeports=2/,
    )
    await create('l2', 'LoadBalancer', { allocateLoadBalancerNodePorts: false })
    await create('c', 'ClusterIP')
    await refused(
      create('c2', 'ClusterIP'),
      /exceeded quota: q, requested: services=1, used: services=4, limited: services=4/,
    )
    await untilUsed(world, 'q', {
      services: '4',
      'services.nodeports': '2',
      'services.loadbalancers': '2',
    })
    await world.of(resources.services).patch('n', {
      type: 'merge',
      value: { spec: { type: 'ClusterIP' } },
    })
    await untilUsed(world, 'q', { 'services.nodeports': '1' })
  },
)

scenario(
  'A Pod stuck terminating past its grace period is not charged, but no event fires at that moment: only the 5m recalculation or another event corrects it',
  async (world) => {
    await quota(world, 'q', { pods: '5', 'count/pods': '5' })
    const stuck = pod('stuck', { terminationGracePeriodSeconds: 1 })
    const metadata = { ...stuck.metadata, finalizers: ['example.com/hold'] }
    await world.of(resources.pods).create({ ...stuck, metadata })
    await untilUsed(world, 'q', { pods: '1' })
    await world.of(resources.pods).delete('stuck')
    await untilUsed(world, 'q', { pods: '0', 'count/pods': '1' }, 310_000)
  },
)
