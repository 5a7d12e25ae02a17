import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node, Service } from '@gyropilot/api'
import { ImplementedElsewhere } from '@gyropilot/cloud-provider'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import { startLoop } from '@gyropilot/runtime/testing'
import { cloudContext, node, partsOnly } from '../cloud-support/fixtures.ts'
import { AUTOSCALER_TAINT, EXCLUDE_LABEL } from './config.ts'
import { service } from './fixtures.ts'
import { serviceLbController } from './index.ts'

async function started(
  services: readonly Service[],
  nodes: readonly Node[] = [node('a')],
  concurrentServiceSyncs = 1,
) {
  let cloud: InMemoryCloud | undefined
  const context = cloudContext(
    (clock) => (cloud = new InMemoryCloud({ clock })),
    [...services, ...nodes],
    { serviceLb: { concurrentServiceSyncs } },
  )
  for (const each of services) context.client.put(resources.services, each)
  const loop = (await serviceLbController.build(context))!
  const { stop: stopped } = startLoop(loop, context.clock)
  await context.clock.advance(0)
  const updates = () => cloud!.faults.countOf('updateLoadBalancer')
  return {
    context,
    cloud: cloud!,
    updates,
    nodesOf: () => [...cloud!.balancers.values()].map((balancer) => balancer.nodes),
    reasons: () => context.events.map(({ component, reason }) => `${component} ${reason}`),
    async apply(changed: Node) {
      context.informers.apply(resources.nodes, changed)
      await context.clock.advance(0)
    },
    async remove(gone: Node) {
      context.informers.remove(resources.nodes, gone)
      await context.clock.advance(0)
    },
    stopped,
  }
}

const some = (count: number, options = {}): Service[] =>
  Array.from({ length: count }, (_, at) => service({ name: `s${at}`, uid: `u${at}`, ...options }))

test('Given 0 to 4 Services with and without LB and 2 workers, then one host update each', async () => {
  for (let count = 0; count <= 4; count++) {
    const others = [service({ name: 'plain', uid: 'p', type: 'ClusterIP' })]
    const { apply, updates, nodesOf, context, stopped } = await started(
      [...some(count), ...others],
      [node('a')],
      2,
    )
    assert.equal(updates(), 0)
    await apply(node('b'))
    assert.equal(updates(), count)
    assert.deepEqual(
      nodesOf(),
      Array.from({ length: count }, () => ['a', 'b']),
    )
    const total = context.metrics.value('service_controller_loadbalancer_sync_total')
    assert.equal(total ?? 0, count)
    const running = { name: 'service', manager: 'cloud-controller-manager' }
    assert.equal(context.metrics.value('running_managed_controllers', running), 1)
    await stopped()
  }
})

test('nodes that come together are one sync of all balancers', async () => {
  const { context, updates, stopped } = await started([service()])
  const syncs = () => context.metrics.observed('service_controller_nodesync_latency_seconds').length
  const before = syncs()
  for (const name of ['b', 'c', 'd']) context.informers.apply(resources.nodes, node(name))
  await context.clock.advance(0)
  assert.deepEqual([syncs() - before, updates()], [1, 1])
  await stopped()
})

test('Given node added, NotReady, tainted, excluded, deleted, marked for deletion, spurious update, then host updates follow only real changes', async () => {
  const { apply, remove, updates, nodesOf, stopped } = await started([service()])
  const spurious: readonly Node[] = [
    node('a', { ready: 'False' }),
    node('a', { taints: [{ key: AUTOSCALER_TAINT, effect: 'NoSchedule' }] }),
    { ...node('a'), metadata: { ...node('a').metadata, deletionTimestamp: 'now' } },
    node('a'),
  ]
  for (const changed of spurious) await apply(changed)
  assert.equal(updates(), 0)
  await apply(node('b'))
  assert.deepEqual([updates(), nodesOf()], [1, [['a', 'b']]])
  await apply(node('b', { labels: { [EXCLUDE_LABEL]: '' } }))
  assert.deepEqual([updates(), nodesOf()], [2, [['a']]])
  await apply(node('b', { labels: { [EXCLUDE_LABEL]: 'false' } }))
  assert.deepEqual([updates(), nodesOf()], [3, [['a', 'b']]])
  await apply(node('b', { providerId: 'x://b' }))
  assert.equal(updates(), 4)
  await remove(node('b'))
  assert.deepEqual([updates(), nodesOf()], [5, [['a']]])
  await remove(node('a'))
  assert.deepEqual([updates(), nodesOf()], [6, [[]]])
  await stopped()
})

test('a taint that came without an update takes effect at the next one', async () => {
  const { apply, nodesOf, updates, stopped } = await started([service()], [node('a'), node('b')])
  await apply(node('b', { taints: [{ key: AUTOSCALER_TAINT, effect: 'NoSchedule' }] }))
  assert.equal(updates(), 0)
  await apply(node('c'))
  assert.deepEqual(nodesOf(), [['a', 'c']])
  await stopped()
})

test('new nodes are told as events, no nodes as a warning', async () => {
  const { apply, remove, context, stopped } = await started([service()])
  await apply(node('b'))
  await remove(node('a'))
  await remove(node('b'))
  assert.deepEqual(
    context.events.slice(2).map(({ component, type, reason }) => [component, type, reason]),
    [
      ['service-controller', 'Normal', 'UpdatedLoadBalancer'],
      ['service-controller', 'Normal', 'UpdatedLoadBalancer'],
      ['service-controller', 'Warning', 'UnAvailableLoadBalancer'],
    ],
  )
  await stopped()
})

test('nodes that a balancer did not take are healed by its Service at once, not by the next node', async () => {
  const { apply, cloud, context, nodesOf, stopped } = await started([service()])
  cloud.faults.fail('updateLoadBalancer', new Error('no'), 1)
  await apply(node('b'))
  assert.deepEqual(nodesOf(), [['a', 'b']])
  assert.equal(cloud.faults.countOf('ensureLoadBalancer'), 2)
  const failed = context.events.find(({ reason }) => reason === 'UpdateLoadBalancerFailed')
  assert.equal(
    failed?.message,
    'Error updating load balancer with new hosts [a b] [node names limited, total number of nodes: 2], error: no',
  )
  assert.equal(context.metrics.value('service_controller_nodesync_error_total'), 1)
  assert.deepEqual(
    context.logger.lines
      .filter(({ severity }) => severity === 'error')
      .map(({ fields }) => fields['service']),
    ['ns/s'],
  )
  await stopped()
})

test('a failed update is none where the balancer is gone or somebody else sees to it', async () => {
  const { apply, cloud, reasons, stopped } = await started([service()])
  cloud.balancers.clear()
  await apply(node('b'))
  assert.equal(cloud.faults.countOf('getLoadBalancer'), 1)
  cloud.faults.fail('updateLoadBalancer', new ImplementedElsewhere(), 1)
  await apply(node('c'))
  // It is not even asked whether the balancer is there.
  assert.equal(cloud.faults.countOf('getLoadBalancer'), 1)
  assert.equal(cloud.faults.countOf('ensureLoadBalancer'), 1)
  assert.ok(!reasons().some((reason) => reason.includes('Failed')))
  await stopped()
})

test('a balancer that cannot be asked for counts as there', async () => {
  const { apply, cloud, reasons, stopped } = await started([service()])
  cloud.faults.fail('updateLoadBalancer', new Error('no'), 1)
  cloud.faults.fail('getLoadBalancer', new Error('no'), 1)
  await apply(node('b'))
  assert.ok(reasons().includes('service-controller UpdateLoadBalancerFailed'))
  await stopped()
})

test('Given a slow provider call in a node sync, then the Service sync is not lost', async () => {
  const { cloud, context, stopped } = await started([service()])
  cloud.faults.slow('updateLoadBalancer', 60_000)
  context.informers.apply(resources.nodes, node('b'))
  await context.clock.advance(1_000)
  const added = service({ name: 'late', uid: 'late' })
  context.client.put(resources.services, added)
  context.informers.apply(resources.services, added)
  context.informers.apply(resources.services, service({ externalIPs: ['1.1.1.1'] }))
  await context.clock.advance(0)
  assert.equal(cloud.faults.countOf('ensureLoadBalancer'), 3)
  await context.clock.advance(60_000)
  assert.deepEqual(
    [...cloud.balancers.values()].map(({ nodes }) => nodes),
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  )
  const seconds = context.metrics.observed('service_controller_nodesync_latency_seconds')
  assert.equal(seconds.at(-1), 60)
  await stopped()
})

test('a Service that fails waits 5 s, then twice as long each time, up to 300 s', async () => {
  const { cloud, context, stopped } = await started([])
  cloud.faults.fail('ensureLoadBalancer', new Error('no'))
  context.client.put(resources.services, service())
  context.informers.apply(resources.services, service())
  const tries = () => cloud.faults.countOf('ensureLoadBalancer')
  await context.clock.advance(0)
  const waits = [5, 10, 20, 40, 80, 160, 300, 300]
  for (const [index, seconds] of waits.entries()) {
    assert.equal(tries(), index + 1)
    await context.clock.advance(seconds * 1_000 - 1)
    assert.equal(tries(), index + 1)
    await context.clock.advance(1)
  }
  await stopped()
})

test('it is skipped where the cloud has no balancers', async () => {
  assert.equal(await serviceLbController.build(cloudContext(partsOnly('instances'))), undefined)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = serviceLbController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['service-lb-controller', ['service'], 'service-controller', true],
  )
})
