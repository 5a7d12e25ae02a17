/** The loops of a cloud on a whole cluster: nodes, machines, routes, load balancers. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type { Node, Service } from '@gyropilot/api'
import { ImplementedElsewhere, RetryLater } from '@gyropilot/cloud-provider'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const TAINT = 'node.cloudprovider.kubernetes.io/uninitialized'
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'
const CLOUD = { cloud: true, nodes: 1 } as const

const service = (name: string, spec: object = {}): Service => ({
  metadata: { name },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
})

/** Without a kubelet. */
const bareNode = (name: string, more: object = {}): Node => ({
  metadata: { name },
  spec: { taints: [{ key: TAINT, value: 'true', effect: 'NoSchedule' }], ...more },
})

const addressOf = async (world: World, name: string): Promise<string | undefined> =>
  (await world.find(resources.services, name))?.status?.loadBalancer?.ingress?.[0]?.ip

const untilAddressed = (world: World, name: string, withinMs = 5_000): Promise<string> =>
  world.until(`${name} has an address`, withinMs, () => addressOf(world, name))

async function reasons(world: World, name: string): Promise<readonly string[]> {
  const events = await world.list(resources.events)
  return events
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason }) => reason ?? '')
}

const hasTaint = (node: Node | undefined, key: string): boolean =>
  node?.spec?.taints?.some((taint) => taint.key === key) ?? false

scenario(
  'Given a node registered with the uninitialized taint, then its cloud gives it what it knows, a route, and pods',
  async (world) => {
    const node = await world.until('initialised', 20_000, async () => {
      const found = await world.find(resources.nodes, 'node-1')
      const unavailable = findCondition(found?.status?.conditions, 'NetworkUnavailable')
      return !hasTaint(found, TAINT) && unavailable?.status === 'False' ? found : undefined
    })
    assert.equal(node.spec?.providerID, 'in-memory://i-1')
    assert.equal(node.metadata?.labels?.['topology.kubernetes.io/zone'], 'zone-1')
    assert.equal(node.metadata?.labels?.['node.kubernetes.io/instance-type'], 'simulated.large')
    const types = node.status?.addresses?.map(({ type }) => type)
    assert.deepEqual(types, ['ExternalIP', 'Hostname'])
    assert.deepEqual(
      world
        .cloud()
        .routeTable.map(({ targetNode, destinationCidr }) => [targetNode, destinationCidr]),
      [['node-1', node.spec?.podCIDR]],
    )
    // The kubelet leaves them alone.
    await world.advance(320_000)
    const later = await world.find(resources.nodes, 'node-1')
    assert.deepEqual(later?.status?.addresses, node.status?.addresses)
  },
  CLOUD,
)

scenario(
  'a Service of type LoadBalancer gets an address and holds it until it goes',
  async (world) => {
    const services = world.of(resources.services)
    await services.create(service('web'))
    const ip = await untilAddressed(world, 'web')
    assert.equal(ip, '203.0.113.1')
    const held = await world.find(resources.services, 'web')
    assert.deepEqual(held?.metadata?.finalizers, [FINALIZER])
    await services.delete('web')
    await world.until('it is gone', 5_000, async () =>
      (await world.find(resources.services, 'web')) === undefined ? true : undefined,
    )
    assert.equal(world.cloud().balancers.size, 0)
    const told = await reasons(world, 'web')
    for (const reason of [
      'EnsuringLoadBalancer',
      'EnsuredLoadBalancer',
      'DeletingLoadBalancer',
      'DeletedLoadBalancer',
    ])
      assert.ok(told.includes(reason), reason)
  },
  CLOUD,
)

scenario(
  'a Service that is of another type, or of another class, gives its balancer back and keeps other finalizers',
  async (world) => {
    const services = world.of(resources.services)
    const finalizers = ['example.com/mine']
    await services.create({ ...service('web'), metadata: { name: 'web', finalizers } })
    await services.create(service('foreign', { loadBalancerClass: 'example.com/other' }))
    await untilAddressed(world, 'web')
    await services.patch('web', { type: 'merge', value: { spec: { type: 'ClusterIP' } } })
    await world.until('it is given back', 5_000, async () => {
      const found = await world.find(resources.services, 'web')
      const left = found?.metadata?.finalizers ?? []
      assert.equal(left[0], finalizers[0])
      return left.length === 1 ? true : undefined
    })
    assert.equal(await addressOf(world, 'web'), undefined)
    const foreign = await world.find(resources.services, 'foreign')
    assert.deepEqual([foreign?.metadata?.finalizers, world.cloud().balancers.size], [undefined, 0])
  },
  CLOUD,
)

scenario(
  'a deleted Service is held while the cloud fails, also by a manager that remembers nothing',
  async (world) => {
    const services = world.of(resources.services)
    await services.create(service('web'))
    await untilAddressed(world, 'web')
    world.cloud().faults.fail('ensureLoadBalancerDeleted', new Error('quota'))
    await services.delete('web')
    await world.advance(10_000)
    world.crash('cloud-controller-manager')
    await world.advance(60_000)
    assert.ok((await world.find(resources.services, 'web')) !== undefined)
    assert.ok((await reasons(world, 'web')).includes('SyncLoadBalancerFailed'))
    world.cloud().faults.clear()
    await world.until('it is gone', 300_000, async () =>
      (await world.find(resources.services, 'web')) === undefined ? true : undefined,
    )
    assert.equal(world.cloud().balancers.size, 0)
  },
  CLOUD,
)

scenario(
  'a cloud that knows when to come again is asked then, and one that leaves it to another is left alone',
  async (world) => {
    const services = world.of(resources.services)
    const busy = new Error('asking', { cause: new RetryLater('busy', 42_000) })
    world.cloud().faults.fail('ensureLoadBalancer', busy, 1)
    await services.create(service('web'))
    await world.advance(41_000)
    assert.equal(await addressOf(world, 'web'), undefined)
    await untilAddressed(world, 'web', 2_000)
    world.cloud().faults.fail('ensureLoadBalancer', new ImplementedElsewhere())
    await services.create(service('elsewhere'))
    await world.advance(60_000)
    const found = await world.find(resources.services, 'elsewhere')
    assert.deepEqual(found?.metadata?.finalizers, [FINALIZER])
    assert.equal(found?.status?.loadBalancer?.ingress, undefined)
  },
  CLOUD,
)

scenario(
  'balancers follow nodes that come, are kept out and go, and not their readiness',
  async (world) => {
    await world.of(resources.services).create(service('web'))
    await untilAddressed(world, 'web')
    const nodes = () => [...world.cloud().balancers.values()][0]?.nodes.join()
    const untilNodes = (wanted: string) =>
      world.until(`backends ${wanted}`, 10_000, async () => (nodes() === wanted ? true : undefined))
    await untilNodes('node-1')
    // A machine of no kubelet: never ready, and a backend.
    await world.of(resources.nodes).create(bareNode('node-5'))
    await untilNodes('node-1,node-5')
    const label = 'node.kubernetes.io/exclude-from-external-load-balancers'
    const exclude = (value: string | null) =>
      world.of(resources.nodes).patch('node-5', {
        type: 'merge',
        value: { metadata: { labels: { [label]: value } } },
      })
    await exclude('')
    await untilNodes('node-1')
    await exclude('false')
    await untilNodes('node-1,node-5')
    world.cloud().faults.fail('updateLoadBalancer', new Error('no'), 1)
    await world.of(resources.nodes).delete('node-5')
    await untilNodes('node-1')
    assert.ok((await reasons(world, 'web')).includes('UpdateLoadBalancerFailed'))
  },
  CLOUD,
)

scenario(
  'a node that is silent goes with its machine, and stays while the cloud does not answer',
  async (world) => {
    await world.until('initialised', 20_000, async () =>
      hasTaint(await world.find(resources.nodes, 'node-1'), TAINT) ? undefined : true,
    )
    world.cloud().terminate('node-1')
    await world.advance(60_000)
    assert.ok(await world.find(resources.nodes, 'node-1'), 'a ready node is never deleted')
    world.cloud().faults.fail('instanceExists', new Error('down'))
    world.partition('node-1', 600_000)
    await world.advance(70_000)
    assert.ok(await world.find(resources.nodes, 'node-1'), 'an error never deletes')
    world.cloud().faults.clear()
    await world.until('the node is deleted', 10_000, async () =>
      (await world.find(resources.nodes, 'node-1')) === undefined ? true : undefined,
    )
    await world.until('its route is gone', 15_000, async () =>
      world.cloud().routeTable.length === 0 ? true : undefined,
    )
  },
  CLOUD,
)

scenario(
  'a node whose machine is off is marked, and loses the mark when it is ready',
  async (world) => {
    const SHUTDOWN = 'node.cloudprovider.kubernetes.io/shutdown'
    const off = { instanceId: 'i-1', isShutDown: true }
    world.cloud().addMachine('node-1', off)
    world.partition('node-1', 120_000)
    await world.until('it is marked', 90_000, async () =>
      hasTaint(await world.find(resources.nodes, 'node-1'), SHUTDOWN) ? true : undefined,
    )
    // Ready is what counts, whatever the cloud says.
    await world.until('the mark is gone', 120_000, async () =>
      hasTaint(await world.find(resources.nodes, 'node-1'), SHUTDOWN) ? undefined : true,
    )
  },
  CLOUD,
)

scenario(
  'routes that somebody spoiled are mended: too many go, missing ones come, those of others stay',
  async (world) => {
    const listed = () =>
      world
        .cloud()
        .routeTable.map(({ targetNode, destinationCidr }) => `${targetNode} ${destinationCidr}`)
        .toSorted()
        .join()
    await world.until('its route', 30_000, async () =>
      /^node-1 [\d./]+$/.test(listed()) ? true : undefined,
    )
    const own = listed()
    const foreign = { name: 'foreign', targetNode: '', destinationCidr: '172.16.0.0/24' }
    const stale = { name: 'stale', targetNode: 'gone', destinationCidr: '10.245.0.0/24' }
    world.cloud().routeTable.splice(0, 1, foreign, stale)
    await world.until('mended', 12_000, async () =>
      listed() === ` 172.16.0.0/24,${own}` ? true : undefined,
    )
    world.cloud().faults.fail('createRoute', new Error('quota'), 3)
    await world
      .of(resources.nodes)
      .create(bareNode('node-4', { podCIDR: '10.246.0.0/24', podCIDRs: ['10.246.0.0/24'] }))
    const condition = async () =>
      findCondition(
        (await world.find(resources.nodes, 'node-4'))?.status?.conditions,
        'NetworkUnavailable',
      )?.status
    await world.until('unavailable', 12_000, async () =>
      (await condition()) === 'True' ? true : undefined,
    )
    await world.until('available', 60_000, async () =>
      (await condition()) === 'False' ? true : undefined,
    )
  },
  CLOUD,
)
