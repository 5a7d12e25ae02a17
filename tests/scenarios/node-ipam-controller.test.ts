/** Every node gets a range of its own, and its pods have addresses of it. */
import assert from 'node:assert/strict'
import type { Node, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { nodeIpam } from '@gyropilot/cluster'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const bare = (name: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })

const pod = (name: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'web:1' }], ...spec },
})

function rangeOf(world: World, name: string): Promise<string> {
  return world.until(`${name} has a range`, 60_000, async () => {
    return (await world.find(resources.nodes, name))?.spec?.podCIDR
  })
}

function addressOf(world: World, name: string): Promise<string> {
  return world.until(`${name} has an address`, 30_000, async () => {
    return (await world.find(resources.pods, name))?.status?.podIP
  })
}

async function reasonsOf(world: World, kind: string, name: string): Promise<readonly string[]> {
  const events = await world.list(resources.events)
  return events
    .filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name)
    .map(({ reason = '', source }) => `${source?.component} ${reason}`)
}

scenario(
  'pods have addresses out of the range of their node, and wait for it where it is late',
  async (world) => {
    const pods = world.of(resources.pods)
    await pods.create(pod('a', { nodeName: 'node-1' }))
    await pods.create(pod('b', { nodeName: 'node-2' }))
    await pods.create(pod('host', { nodeName: 'node-2', hostNetwork: true }))
    for (const [name, node] of [
      ['a', 'node-1'],
      ['b', 'node-2'],
    ] as const) {
      const range = await rangeOf(world, node)
      assert.equal(await addressOf(world, name), range.replace(/0\/24$/, '2'))
    }
    assert.equal(await addressOf(world, 'host'), '192.168.0.12')
  },
)

scenario(
  'a range that is full leaves a node without, which hears of it and gets what another leaves',
  async (world) => {
    const nodes = world.of(resources.nodes)
    const first = await rangeOf(world, 'node-1')
    await nodes.create(bare('a'))
    const second = await rangeOf(world, 'a')
    assert.deepEqual([first, second], ['10.224.0.0/24', '10.224.1.0/24'])
    await nodes.create(bare('b'))
    await world.advance(2_000)
    assert.equal((await world.find(resources.nodes, 'b'))?.spec?.podCIDR, undefined)
    assert.ok((await reasonsOf(world, 'Node', 'b')).includes('cidrAllocator CIDRNotAvailable'))
    await nodes.delete('a')
    assert.equal(await rangeOf(world, 'b'), second)
  },
  {
    nodes: 1,
    configuration: { nodeIpam: { ...nodeIpam('ipv4'), clusterCidr: '10.224.0.0/23' } },
  },
)

scenario(
  'pods of a node without a range wait, say so, and start when it comes',
  async (world) => {
    await world.of(resources.nodes).create(bare('other'))
    const taken = await rangeOf(world, 'other')
    await world.of(resources.nodes).delete('node-1')
    await world.of(resources.nodes).create(bare('more'))
    await rangeOf(world, 'more')
    world.crash('node-1')
    await world.until('node-1 is back', 10_000, () => world.find(resources.nodes, 'node-1'))
    await world.of(resources.pods).create(pod('a', { nodeName: 'node-1' }))
    await world.advance(10_000)
    assert.equal((await world.find(resources.pods, 'a'))?.status?.podIP, undefined)
    assert.ok((await reasonsOf(world, 'Pod', 'a')).includes('kubelet NetworkNotReady'))
    await world.of(resources.nodes).delete('other')
    assert.equal(await rangeOf(world, 'node-1'), taken)
    assert.equal(await addressOf(world, 'a'), taken.replace(/0\/24$/, '2'))
  },
  {
    nodes: 1,
    configuration: { nodeIpam: { ...nodeIpam('ipv4'), clusterCidr: '10.224.0.0/23' } },
  },
)

scenario('a manager that starts anew knows what the one before handed out', async (world) => {
  const before = [await rangeOf(world, 'node-1'), await rangeOf(world, 'node-2')]
  world.restartManager()
  await world.of(resources.nodes).create(bare('c'))
  const third = await rangeOf(world, 'c')
  assert.equal(new Set([...before, third]).size, 3)
  assert.deepEqual([await rangeOf(world, 'node-1'), await rangeOf(world, 'node-2')], before)
})
