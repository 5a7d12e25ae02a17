/** What docs/behaviour/simulation/kubelet.md says of how a node is kept known: whatever others make of it. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type { JsonPatchOperation, Node } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const DONGLE = 'example.com/dongle'
const CAPACITY = '/status/capacity/example.com~1dongle'
/** A look every 10 s, and what it leads to. */
const LOOK_MS = 11_000

async function nodeOf(world: World): Promise<Node> {
  return (await world.find(resources.nodes, 'node-1'))!
}

async function patchStatus(world: World, operation: JsonPatchOperation): Promise<void> {
  const nodes = world.of(resources.nodes)
  await nodes.patch('node-1', { type: 'json', operations: [operation] }, { subresource: 'status' })
}

function untilAllocatable(world: World, amount: string | undefined): Promise<true> {
  return world.until(`${amount} dongles`, LOOK_MS, async () =>
    (await nodeOf(world)).status?.allocatable?.[DONGLE] === amount ? true : undefined,
  )
}

/** How often its kubelet told what of the node. */
async function told(world: World): Promise<Readonly<Record<string, number>>> {
  await world.advance(1_000)
  const events = await world.list(resources.events)
  return Object.fromEntries(
    events
      .filter(({ involvedObject }) => involvedObject.name === 'node-1')
      .filter(({ source }) => source?.component === 'kubelet')
      .map(({ reason = '', count = 1 }) => [reason, count]),
  )
}

/** Nobody writes the node any more, though its Lease is renewed. */
async function assertSettled(world: World): Promise<void> {
  const before = await nodeOf(world)
  await world.advance(60_000)
  assert.deepEqual((await nodeOf(world)).metadata, before.metadata)
}

scenario(
  'extended resources that somebody counts on a node may be used, and not once they are taken out',
  async (world) => {
    const containers = [{ name: 'c', image: 'web:1', resources: { limits: { [DONGLE]: '3' } } }]
    await world.of(resources.pods).create({ metadata: { name: 'user' }, spec: { containers } })
    await world.advance(5_000)
    await patchStatus(world, { op: 'add', path: CAPACITY, value: '4' })
    await untilAllocatable(world, '4')
    await world.until('the pod that asks for them runs', 10_000, async () => {
      const pod = await world.find(resources.pods, 'user')
      return pod?.status?.phase === 'Running' ? true : undefined
    })
    await assertSettled(world)
    await patchStatus(world, { op: 'replace', path: CAPACITY, value: '2' })
    await untilAllocatable(world, '2')
    world.crash('node-1')
    await world.advance(5_000)
    assert.equal((await nodeOf(world)).status?.allocatable?.[DONGLE], '2')
    await patchStatus(world, { op: 'remove', path: CAPACITY })
    await untilAllocatable(world, undefined)
    assert.equal((await nodeOf(world)).status?.capacity?.[DONGLE], undefined)
    await assertSettled(world)
  },
  { nodes: 1 },
)

scenario(
  'a node that was thought dead while it was not says so with its next look, and once',
  async (world) => {
    await world.advance(20_000)
    const { conditions = [] } = (await nodeOf(world)).status ?? {}
    const lastTransitionTime = '2026-01-01T00:00:10Z'
    const unknown = { status: 'Unknown' as const, reason: 'NodeStatusUnknown', message: 'lost' }
    const value = conditions.map((known) => ({ ...known, ...unknown, lastTransitionTime }))
    const before = await told(world)
    await patchStatus(world, { op: 'replace', path: '/status/conditions', value })
    await world.until('the node is ready', LOOK_MS, async () => {
      const ready = findCondition((await nodeOf(world)).status?.conditions, 'Ready')
      return ready?.status === 'True' ? true : undefined
    })
    await world.advance(5_000)
    assert.deepEqual((await nodeOf(world)).spec?.taints ?? [], [])
    await assertSettled(world)
    assert.deepEqual(await told(world), {
      ...before,
      NodeHasSufficientMemory: 2,
      NodeHasNoDiskPressure: 2,
      NodeHasSufficientPID: 2,
      NodeReady: 2,
    })
  },
  { nodes: 1 },
)

scenario(
  'the Lease of a node that is deleted goes, and comes back with the node alone',
  async (world) => {
    const lease = () => world.find(resources.leases, 'node-1', 'kube-node-lease')
    const owner = async () => (await lease())?.metadata?.ownerReferences?.[0]?.uid
    await world.advance(20_000)
    const gone = await nodeOf(world)
    assert.equal(await owner(), gone.metadata?.uid)
    await world.of(resources.nodes).delete('node-1')
    await world.until(
      'the Lease is gone',
      30_000,
      async () => (await lease()) === undefined || undefined,
    )
    const seen: unknown[] = []
    for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 50) {
      await world.advance(50)
      seen.push(await lease())
    }
    assert.deepEqual(new Set(seen), new Set([undefined]))
    const made = await world.of(resources.nodes).create({ metadata: { name: 'node-1' } })
    await world.until('the Lease is that of the new node', LOOK_MS, async () =>
      (await owner()) === made.metadata?.uid ? true : undefined,
    )
    const ready = () =>
      nodeOf(world).then(({ status }) => findCondition(status?.conditions, 'Ready'))
    await world.until('the new node is ready', LOOK_MS, async () =>
      (await ready())?.status === 'True' ? true : undefined,
    )
    await world.of(resources.nodes).delete('node-1')
    await world.advance(30_000)
    world.crash('node-1')
    await world.until('its kubelet registers it again, with a Lease', 30_000, async () => {
      const uid = (await world.find(resources.nodes, 'node-1'))?.metadata?.uid
      return uid !== undefined && uid === (await owner()) ? true : undefined
    })
  },
  { nodes: 1 },
)

scenario(
  'a node that is cordoned and not any more has that told by its kubelet, once each',
  async (world) => {
    const cordon = (unschedulable: boolean) =>
      world
        .of(resources.nodes)
        .patch('node-1', { type: 'merge', value: { spec: { unschedulable } } })
    const before = await told(world)
    await cordon(true)
    await world.advance(30_000)
    await cordon(false)
    await world.advance(30_000)
    assert.deepEqual(await told(world), { ...before, NodeNotSchedulable: 1, NodeSchedulable: 1 })
  },
  { nodes: 1 },
)
