/** Machines of nodes that are turned off and on: by hand, by a schedule, one and many. */
import assert from 'node:assert/strict'
import { findCondition, isPodReady, parseTime, resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import { pod } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

async function tell(world: World, names: readonly string[], text: string | null): Promise<void> {
  const value = { metadata: { annotations: { 'sim.kubelet/node': text } } }
  for (const name of names) await world.of(resources.nodes).patch(name, { type: 'merge', value })
}

async function nodeNamed(world: World, name: string): Promise<Node> {
  return (await world.find(resources.nodes, name))!
}

async function podNamed(world: World, name: string): Promise<Pod> {
  return (await world.find(resources.pods, name))!
}

function readyOf({ status }: Node): string | undefined {
  return findCondition(status?.conditions, 'Ready')?.status
}

function untilReady(world: World, name: string, status: string): Promise<number> {
  const startMs = world.clock.monotonicMs()
  return world.until(`${name} is ${status}`, 120_000, async () =>
    readyOf(await nodeNamed(world, name)) === status
      ? world.clock.monotonicMs() - startMs
      : undefined,
  )
}

async function reasonsOf(world: World, name: string): Promise<readonly string[]> {
  const events = await world.list(resources.events)
  return events
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason = '' }) => reason)
}

scenario(
  'what ran on a machine that was off has died: it starts anew with another address, or has failed',
  async (world) => {
    for (const [name, restartPolicy] of [
      ['always', 'Always'],
      ['never', 'Never'],
    ] as const) {
      const base = pod(name)
      const spec = { ...base.spec!, nodeName: 'node-1', restartPolicy }
      await world.of(resources.pods).create({ ...base, spec })
    }
    await world.advance(5_000)
    const before = await podNamed(world, 'always')
    assert.ok(isPodReady(before) && isPodReady(await podNamed(world, 'never')))
    const { bootID } = (await nodeNamed(world, 'node-1')).status!.nodeInfo!
    await tell(world, ['node-1'], 'stopped: true')
    // A lease is up to 10 s old then, a pass up to 5 s away.
    const silentMs = await untilReady(world, 'node-1', 'Unknown')
    assert.ok(silentMs > 39_000 && silentMs <= 56_000, `${silentMs} ms`)
    await world.advance(60_000)
    await tell(world, ['node-1'], null)
    assert.ok((await untilReady(world, 'node-1', 'True')) < 2_000)
    await world.advance(5_000)
    const after = await podNamed(world, 'always')
    const [status] = after.status!.containerStatuses!
    assert.ok(isPodReady(after))
    assert.deepEqual([status?.restartCount, status?.lastState?.terminated?.exitCode], [1, 255])
    assert.notEqual(after.status?.podIP, undefined)
    assert.equal(after.metadata?.uid, before.metadata?.uid)
    assert.equal((await podNamed(world, 'never')).status?.phase, 'Failed')
    assert.ok((await reasonsOf(world, 'always')).includes('SandboxChanged'))
    assert.ok((await reasonsOf(world, 'node-1')).includes('Rebooted'))
    const node = await nodeNamed(world, 'node-1')
    assert.notEqual(node.status?.nodeInfo?.bootID, bootID)
    assert.deepEqual(node.spec?.taints ?? [], [])
  },
)

scenario(
  'after a reboot init containers of a pod that does not restart always are told of when they have ended again',
  async (world) => {
    const base = pod('batch')
    const init = { name: 'i', image: 'busybox', command: ['sleep', '30'] }
    const spec = {
      ...base.spec!,
      nodeName: 'node-1',
      restartPolicy: 'OnFailure',
      initContainers: [init],
    } as const
    await world.of(resources.pods).create({ ...base, spec })
    await world.advance(40_000)
    assert.ok(isPodReady(await podNamed(world, 'batch')))
    await tell(world, ['node-1'], 'stopped: true')
    await world.advance(60_000)
    await tell(world, ['node-1'], null)
    await world.advance(20_000)
    const [during] = (await podNamed(world, 'batch')).status!.initContainerStatuses!
    assert.deepEqual([during?.restartCount, during?.state?.terminated?.exitCode], [0, 0])
    await world.advance(20_000)
    const after = await podNamed(world, 'batch')
    const [status] = after.status!.initContainerStatuses!
    assert.deepEqual([status?.restartCount, status?.lastState?.terminated?.exitCode], [1, 0])
    assert.ok(isPodReady(after))
  },
)

scenario(
  'a pod that was deleted while its machine was off goes when it is on again',
  async (world) => {
    const base = pod('web')
    await world.of(resources.pods).create({ ...base, spec: { ...base.spec!, nodeName: 'node-1' } })
    await world.advance(5_000)
    await tell(world, ['node-1'], 'stopped: true')
    await world.of(resources.pods).delete('web')
    await world.advance(120_000)
    assert.ok((await podNamed(world, 'web')).metadata?.deletionTimestamp !== undefined)
    await tell(world, ['node-1'], null)
    await world.until('the pod is gone', 10_000, async () =>
      (await world.find(resources.pods, 'web')) === undefined ? true : undefined,
    )
  },
)

scenario('a schedule turns a machine off and on again by itself', async (world) => {
  const created = parseTime((await nodeNamed(world, 'node-1')).metadata?.creationTimestamp)!
  await tell(world, ['node-1'], 'stopped: [{from: 1m, until: 4m}]')
  await world.advance(created + 60_000 - world.clock.nowMs())
  assert.equal(readyOf(await nodeNamed(world, 'node-1')), 'True')
  await untilReady(world, 'node-1', 'Unknown')
  await world.advance(created + 240_000 - world.clock.nowMs() - 1_000)
  assert.equal(readyOf(await nodeNamed(world, 'node-1')), 'Unknown')
  await world.advance(2_000)
  assert.equal(readyOf(await nodeNamed(world, 'node-1')), 'True')
})

scenario('a document that cannot be used is told on the node, and stops nothing', async (world) => {
  await tell(world, ['node-1'], 'stopped: soon')
  await world.advance(90_000)
  assert.equal(readyOf(await nodeNamed(world, 'node-1')), 'True')
  assert.ok((await reasonsOf(world, 'node-1')).includes('AnnotationIgnored'))
})

/** When each node got its NoExecute taint, in seconds after the first one. */
async function taintedAfter(world: World): Promise<readonly number[]> {
  const times = (await world.list(resources.nodes))
    .flatMap(({ spec }) => spec?.taints ?? [])
    .filter(({ effect }) => effect === 'NoExecute')
    .map(({ timeAdded }) => parseTime(timeAdded)! / 1000)
    .toSorted((a, b) => a - b)
  return times.map((time) => time - times[0]!)
}

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `node-${index + 1}`)

scenario(
  'many nodes lost at once in a zone that is mostly well lose their pods one by one, ten seconds apart',
  async (world) => {
    await tell(world, names(5), 'stopped: true')
    await world.advance(110_000)
    assert.deepEqual(await taintedAfter(world), [0, 10, 20, 30, 40])
  },
  { nodes: 12, controllers: ['node-lifecycle-controller'] },
)

scenario(
  'in a large zone that is mostly down it is one node in a hundred seconds',
  async (world) => {
    await tell(world, names(8), 'stopped: true')
    await world.advance(275_000)
    const [first, second = 0, third = 0, ...rest] = await taintedAfter(world)
    assert.deepEqual([first, rest], [0, []])
    // The pass that finds the zone mostly down comes up to 10 s after the first node was tainted.
    assert.ok(second >= 100 && second <= 110, `${second} s`)
    assert.equal(third - second, 100)
  },
  {
    nodes: 12,
    controllers: ['node-lifecycle-controller'],
    configuration: {
      nodeLifecycle: {
        ...defaultControllersConfiguration.nodeLifecycle,
        largeClusterSizeThreshold: 10,
      },
    },
  },
)

scenario(
  'in a small zone that is mostly down it is none, until enough nodes are back',
  async (world) => {
    await tell(world, names(6), 'stopped: true')
    await world.advance(200_000)
    const before = await taintedAfter(world)
    assert.ok(before.length <= 1, before.join())
    // Four of ten: less than 55 in a hundred.
    await tell(world, names(2), null)
    await world.advance(40_000)
    assert.ok((await taintedAfter(world)).length > before.length)
  },
  { nodes: 10, controllers: ['node-lifecycle-controller'] },
)
