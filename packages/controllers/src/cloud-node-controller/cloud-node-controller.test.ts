import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import type { InMemoryPart } from '@gyropilot/cloud-provider/in-memory'
import { startLoop } from '@gyropilot/runtime/testing'
import { cloudContext, internalIp, node, partsOnly } from '../cloud-support/fixtures.ts'
import { UNINITIALIZED_TAINT, defaultCloudNodeConfiguration } from './config.ts'
import type { CloudNodeConfiguration } from './config.ts'
import { cloudNodeController } from './index.ts'
import { nodeWatch } from './watches.ts'

const taints = [{ key: UNINITIALIZED_TAINT, effect: 'NoSchedule' as const }]

async function started(
  nodes: readonly Node[],
  configuration: Partial<CloudNodeConfiguration> = {},
  parts: readonly InMemoryPart[] = ['instancesV2'],
) {
  let made: InMemoryCloud | undefined
  const cloudNode = { ...defaultCloudNodeConfiguration, ...configuration }
  const context = cloudContext((clock) => (made = new InMemoryCloud({ clock, parts })), nodes, {
    cloudNode,
  })
  for (const each of nodes) context.client.put(resources.nodes, each)
  const loop = await cloudNodeController.build(context)
  return { context, cloud: made!, begin: () => startLoop(loop, context.clock) }
}

test('every add and every update is looked at, resyncs too', () => {
  assert.deepEqual([...nodeWatch.onAdd!(node('n'))], ['n'])
  assert.deepEqual([...nodeWatch.onUpdate!(node('n'), node('n'))], ['n'])
  assert.equal(nodeWatch.onDelete, undefined)
})

test('Given a tainted node, then the periodic loop leaves its addresses', async () => {
  for (const parts of [['instancesV2'], ['instances']] as const) {
    const { context, cloud, begin } = await started([node('n', { taints })], {}, parts)
    cloud.faults.fail('*', new Error('no'))
    const { stop } = begin()
    await context.clock.advance(0)
    const byLoop = cloud.faults.countOf('nodeAddresses')
    assert.equal(byLoop, 0, parts[0])
    // The one call is the initialisation's.
    assert.ok(cloud.faults.calls.length <= 1)
    assert.deepEqual(context.client.requested('patch'), [])
    await stop()
  }
})

test('Given 1, 5, 10, 30 workers and many nodes, then all addresses are updated', async () => {
  for (const workers of [1, 5, 10, 30]) {
    const nodes = Array.from({ length: 40 }, (_, index) => node(`n${index}`))
    const { context, cloud, begin } = await started(nodes, {
      concurrentNodeStatusUpdates: workers,
    })
    for (const { metadata } of nodes)
      cloud.addMachine(metadata!.name!, { addresses: [internalIp('10.0.0.1')] })
    cloud.faults.slow('instanceMetadata', 1_000)
    const { stop } = begin()
    await context.clock.advance(0)
    assert.equal(cloud.faults.countOf('instanceMetadata'), workers)
    await context.clock.advance(Math.ceil(40 / workers) * 1_000)
    assert.equal(context.client.requested('patch').length, 40, `${workers} workers`)
    await stop()
  }
})

test('the loop begins at once and again a period after its end; 0 parallel updates are those of syncs', async () => {
  const nodes = [node('n'), node('m'), node('o')]
  const { context, cloud, begin } = await started(nodes, { concurrentNodeSyncs: 3 })
  for (const { metadata } of nodes) cloud.addMachine(metadata!.name!)
  cloud.faults.slow('*', 10_000)
  const { stop } = begin()
  await context.clock.advance(0)
  assert.equal(cloud.faults.calls.length, 3)
  await context.clock.advance(309_000)
  assert.equal(cloud.faults.calls.length, 3)
  await context.clock.advance(1_000)
  assert.equal(cloud.faults.calls.length, 6)
  await stop()
})

test('a node is looked at as it is when its turn comes, and one that is gone by then is not', async () => {
  const { context, cloud, begin } = await started([node('a'), node('b'), node('c')])
  for (const name of ['a', 'b', 'c'])
    cloud.addMachine(name, { addresses: [internalIp('10.0.0.1')] })
  cloud.faults.slow('instanceMetadata', 60_000)
  const { stop } = begin()
  await context.clock.advance(1_000)
  context.informers.remove(resources.nodes, node('b'))
  context.informers.apply(resources.nodes, node('c', { addresses: [internalIp('10.0.0.1')] }))
  await context.clock.advance(200_000)
  assert.deepEqual(
    context.client.requested('patch').map(({ path }) => path),
    ['/api/v1/nodes/a'],
  )
  assert.equal(cloud.faults.countOf('instanceMetadata'), 2)
  await stop()
})

test('what goes wrong with one node leaves the others their addresses', async () => {
  const { context, cloud, begin } = await started([node('gone'), node('n')])
  cloud.addMachine('n', { addresses: [internalIp('10.0.0.1')] })
  const { stop } = begin()
  await context.clock.advance(0)
  assert.deepEqual(
    context.client.requested('patch').map(({ path, options }) => [path, options['subresource']]),
    [['/api/v1/nodes/n', 'status']],
  )
  assert.deepEqual(
    context.logger.lines
      .filter(({ severity }) => severity === 'error')
      .map(({ message, fields }) => [message, fields['node']]),
    [['The addresses of the node were left', 'gone']],
  )
  await stop()
})

test('a node with the taint is initialised by the loop, on a conflict from what the cache has by then', async () => {
  const tainted = node('n', { taints, resourceVersion: '0' })
  const { context, cloud, begin } = await started([tainted, node('gone', { taints })])
  cloud.addMachine('n', { zone: 'z' })
  const newer = context.client.put(resources.nodes, {
    ...tainted,
    metadata: { name: 'n', labels: { newer: 'yes' } },
  })
  const { stop } = begin()
  await context.clock.advance(0)
  context.informers.fill(newer)
  await context.clock.advance(100)
  const live = context.client.get(resources.nodes, undefined, 'n') as Node
  assert.equal(live.spec?.taints, undefined)
  assert.equal(live.spec?.providerID, 'in-memory://n')
  assert.deepEqual(
    [live.metadata?.labels?.['newer'], live.metadata?.labels?.['topology.kubernetes.io/zone']],
    ['yes', 'z'],
  )
  assert.deepEqual(
    context.events.map(({ component, reason, regarding }) => [
      component,
      reason,
      regarding.metadata?.name,
    ]),
    [['cloud-node-controller', 'Synced', 'n']],
  )
  await stop()
})

test('a loop that is stopped in the middle of a call ends without complaint', async () => {
  const { context, cloud, begin } = await started([node('n')])
  cloud.faults.slow('*', 10_000)
  const { stop } = begin()
  await context.clock.advance(0)
  await stop()
  assert.deepEqual(
    context.logger.lines.filter(({ severity }) => severity === 'error'),
    [],
  )
})

test('of many nodes none is asked about after the stop', async () => {
  const nodes = Array.from({ length: 10 }, (_, index) => node(`n${index}`))
  const { context, cloud, begin } = await started(nodes, { concurrentNodeStatusUpdates: 1 })
  cloud.faults.slow('*', 10_000)
  const { stop } = begin()
  await context.clock.advance(15_000)
  const { length } = cloud.faults.calls
  await stop()
  await context.clock.advance(60_000)
  assert.equal(cloud.faults.calls.length, length)
})

test('a cloud of nulls is survived', async () => {
  const instances = { instanceMetadata: async () => undefined }
  const bare = cloudContext({ ...partsOnly(), instancesV2: instances as never }, [node('n')])
  const loop = (await cloudNodeController.build(bare))!
  const { stop } = startLoop(loop, bare.clock)
  await bare.clock.advance(0)
  assert.deepEqual(bare.client.requests, [])
  await stop()
})

test('while it runs it is counted, and it is skipped where the cloud has no instances', async () => {
  const { context, begin } = await started([])
  const running = () =>
    context.metrics.value('running_managed_controllers', {
      name: 'cloud-node',
      manager: 'cloud-controller-manager',
    })
  const { stop } = begin()
  assert.equal(running(), 1)
  await stop()
  assert.equal(running(), 0)
  const none = cloudContext(partsOnly('loadBalancers'))
  assert.equal(await cloudNodeController.build(none), undefined)
  assert.ok((await cloudNodeController.build(cloudContext(partsOnly('instances')))) !== undefined)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = cloudNodeController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['cloud-node-controller', ['cloud-node'], 'node-controller', true],
  )
})
