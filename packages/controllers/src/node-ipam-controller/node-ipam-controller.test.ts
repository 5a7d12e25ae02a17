import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import {
  WorkClock,
  drive,
  fakeInformers,
  startLoop,
  statusError,
  testContext,
} from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { NodeIpamConfiguration } from './config.ts'
import { defaultNodeIpamConfiguration } from './config.ts'
import { leaving, node, nodeRanges } from './fixtures.ts'
import { nodeIpamController, nodeIpamLogic } from './index.ts'

/** A controller at work on these nodes. */
function starting(
  nodes: readonly Node[],
  flags: Partial<NodeIpamConfiguration> = {},
  clockOf = (clock: Clock): Clock => clock,
) {
  const nodeIpam: NodeIpamConfiguration = {
    ...defaultNodeIpamConfiguration,
    allocateNodeCidrs: true,
    clusterCidr: '10.244.0.0/16',
    ...flags,
  }
  const context = testContext({
    name: nodeIpamController.name,
    configuration: { ...defaultControllersConfiguration, nodeIpam },
  })
  const { client, informers, clock } = context
  for (const each of nodes) informers.apply(resources.nodes, client.put(resources.nodes, each))
  const controller = nodeIpamController.build({ ...context, clock: clockOf(clock) })
  assert.ok(controller !== undefined && !(controller instanceof Promise))
  const loop = startLoop(controller, clock)
  loop.ended.catch(() => {})
  return {
    ...context,
    ...loop,
    podCidrs: (name: string) =>
      (client.get(resources.nodes, undefined, name) as Node).spec?.podCIDRs,
    patches: () => client.requested('patch').length,
    see(name: string) {
      informers.apply(resources.nodes, client.get(resources.nodes, undefined, name) as Node)
    },
  }
}

test('nodes without a range get one each, and are left alone afterwards', async () => {
  const world = starting([node('a'), node('b', ['10.244.0.0/24']), node('c')])
  await world.clock.advance(0)
  assert.deepEqual(['a', 'b', 'c'].map((name) => world.podCidrs(name)?.[0]).toSorted(), [
    '10.244.0.0/24',
    '10.244.1.0/24',
    '10.244.2.0/24',
  ])
  assert.equal(world.patches(), 2)
  for (const name of ['a', 'b', 'c']) world.see(name)
  await world.clock.advance(60_000)
  assert.equal(world.patches(), 2)
  // What was proposed is what is seen: nothing is given back and taken again.
  assert.doesNotMatch(world.metrics.expose(), /cidrs_releases_total/)
  assert.equal(
    world.metrics.value('node_ipam_controller_cidrset_usage_cidrs', {
      clusterCIDR: '10.244.0.0/16',
    }),
    3 / 256,
  )
  await world.stop()
})

const fatal: readonly (readonly [string, readonly string[], RegExp | undefined])[] = [
  ['none', [], undefined],
  ['a valid one', ['10.244.7.0/24'], undefined],
  ['a wider one', ['10.244.4.0/22'], undefined],
  ['out of range', ['10.9.0.0/24'], /cidr 10.9.0.0\/24 is out the range of cluster cidr/],
  ['of the wrong family', ['fd00::/64'], /cidr fd00::\/64 is out the range of cluster cidr/],
  ['one too many', ['10.244.7.0/24', 'fd00::/64'], /at index:1 that does not exist/],
]
test('Given nodes with valid `podCIDRs` at start, then construction succeeds; given an out-of-range, wrong-family or surplus CIDR, then it fails', async () => {
  for (const [what, cidrs, message] of fatal) {
    const world = starting([node('n', cidrs), node('other')])
    await world.clock.advance(0)
    if (message === undefined) {
      assert.ok(world.podCidrs('other') !== undefined, what)
      await world.stop()
    } else {
      await assert.rejects(world.ended, { message })
      assert.equal(world.patches(), 0, what)
    }
  }
})

test('the same at run time is tried again and again, and the process goes on', async () => {
  const world = starting([node('a')])
  await world.clock.advance(0)
  const { client, informers, clock } = world
  informers.apply(resources.nodes, client.put(resources.nodes, node('n', ['10.9.0.0/24'])))
  informers.apply(resources.nodes, client.put(resources.nodes, node('b')))
  await clock.advance(1_000)
  assert.deepEqual(world.podCidrs('b'), ['10.244.1.0/24'])
  assert.ok(world.logger.messages().filter((text) => /will retry/.test(text)).length > 3)
  await world.stop()
})

test('service ranges are not handed out, and one that cannot be read is only told', async () => {
  const world = starting([node('a')], {
    clusterCidr: '10.244.0.0/16,fd00::/48',
    serviceClusterIpRange: 'nonsense,fd00::/108',
  })
  await world.clock.advance(0)
  assert.deepEqual(world.podCidrs('a'), ['10.244.0.0/24', 'fd00:0:0:1::/64'])
  assert.ok(world.logger.messages().includes('Unsuccessful parsing of service CIDR'))
  await world.stop()
})

test('the list at start is tried every 10 s, and given up after 10 minutes', async () => {
  const failing = starting([node('a')])
  failing.client.onRequest = ({ verb }) => {
    if (verb === 'list') throw statusError(503, 'ServiceUnavailable', 'no')
    return undefined
  }
  await failing.clock.advance(0)
  assert.equal(failing.client.requested('list').length, 1)
  await failing.clock.advance(9_999)
  assert.equal(failing.client.requested('list').length, 1)
  await failing.clock.advance(590_001)
  assert.equal(failing.client.requested('list').length, 61)
  await assert.rejects(failing.ended, { message: /^failed to list all nodes in 10m0s/ })
  assert.equal(failing.patches(), 0)

  const late = starting([node('a')])
  late.client.onRequest = ({ verb }) => {
    if (verb === 'list' && late.client.requested('list').length < 3)
      throw statusError(503, 'ServiceUnavailable', 'no')
    return undefined
  }
  await late.clock.advance(20_000)
  assert.deepEqual(late.podCidrs('a'), ['10.244.0.0/24'])
  await late.stop()
})

test('a stop while the list is waited for is no failure', async () => {
  const world = starting([node('a')])
  world.client.onRequest = ({ verb }) => {
    if (verb === 'list') throw statusError(503, 'ServiceUnavailable', 'no')
    return undefined
  }
  await world.clock.advance(5_000)
  await world.stop()
  assert.equal(world.client.requested('list').length, 1)
})

test('what the cache does not show yet is known from the list', async () => {
  const world = starting([node('a')])
  world.client.put(resources.nodes, node('unseen', ['10.244.0.0/24']))
  await world.clock.advance(0)
  assert.deepEqual(world.podCidrs('a'), ['10.244.1.0/24'])
  await world.stop()
})

test('while it runs it is counted as nodeipam of its manager', async () => {
  const world = starting([])
  const running = () =>
    world.metrics.value('running_managed_controllers', {
      name: 'nodeipam',
      manager: 'kube-controller-manager',
    })
  await world.clock.advance(0)
  assert.equal(running(), 1)
  await world.stop()
  assert.equal(running(), 0)
})

test('what a list from a lagging server lacks is known from the cache', async () => {
  const world = starting([node('a'), node('b', ['10.244.0.0/24'])])
  world.client.remove(resources.nodes, node('b'))
  await world.clock.advance(0)
  assert.deepEqual(world.podCidrs('a'), ['10.244.1.0/24'])
  await world.stop()
})

test('a node that goes while it is listed holds nothing', async () => {
  const world = starting([node('a'), node('b', ['10.244.0.0/24'])])
  const { client, informers } = world
  client.onRequest = ({ verb }) => {
    // The answer was made before the deletion, and arrives after it.
    if (verb !== 'list') return undefined
    const items = client.list(resources.nodes)
    informers.remove(resources.nodes, node('b', ['10.244.0.0/24']))
    return { items, metadata: {} }
  }
  await world.clock.advance(0)
  assert.deepEqual(world.podCidrs('a'), ['10.244.0.0/24'])
  await world.stop()
})

test('thousands of nodes are listed in pages and marked in turns, and one that goes meanwhile holds nothing', async () => {
  const nodes = Array.from({ length: 250 }, (_, number) =>
    node(`n${number}`, [`10.244.${number}.0/24`]),
  )
  const world = starting([...nodes, node('new')], {}, (clock) => new WorkClock(clock, 20))
  const { client, clock, informers } = world
  clock.after(0, () => informers.remove(resources.nodes, nodes[249]!))
  await clock.advance(0)
  assert.deepEqual(world.podCidrs('new'), ['10.244.249.0/24'])
  assert.equal(client.requested('list')[0]?.options.limit, 500)
  await world.stop()
})

test('--allocate-node-cidrs=false: there is nothing to run, whatever the other flags say', () => {
  const configuration = {
    ...defaultControllersConfiguration,
    nodeIpam: { ...defaultNodeIpamConfiguration, clusterCidr: 'nonsense' },
  }
  assert.equal(nodeIpamController.build(testContext({ configuration })), undefined)
})

test('Given IPv6 cluster beef:1234::/32 with /49 nodes, then construction fails; 2001:beef:1234:369b::/60 with /64 yields 2001:beef:1234:3690::/64 then 2001:beef:1234:3691::/64', async () => {
  assert.throws(() => starting([], { clusterCidr: 'beef:1234::/32', nodeCidrMaskSize: 49 }), {
    message: 'New CIDR set failed; the node CIDR size is too big',
  })
  const world = starting([node('a'), node('b')], { clusterCidr: '2001:beef:1234:369b::/60' })
  await world.clock.advance(0)
  assert.deepEqual(['a', 'b'].map((name) => world.podCidrs(name)?.[0]).toSorted(), [
    '2001:beef:1234:3690::/64',
    '2001:beef:1234:3691::/64',
  ])
  await world.stop()
})

/** The watch of a controller over a small range, and what a further node would get. */
function watching() {
  const ranges = nodeRanges([['10.0.0.0/29', 30]])
  const informers = fakeInformers()
  const logic = nodeIpamLogic({ informers }, ranges)
  const [watch] = logic.watches
  const give = (target: Node) => {
    const [write] = drive(logic.reconcile(target)).writes
    const patch = write?.verb === 'patch' ? write.patch : undefined
    const cidrs = patch?.type === 'strategic' ? (patch.value as Node).spec?.podCIDRs : undefined
    if (cidrs !== undefined) ranges.occupy(node(target.metadata!.name!, cidrs))
    return cidrs
  }
  return { logic, watch: watch!, give, informers }
}

test('each add and update of a node puts its name into the queue, and a deletion nothing', () => {
  const { watch } = watching()
  assert.equal(watch.type, resources.nodes)
  assert.deepEqual([...watch.onAdd!(node('n'))], ['n'])
  assert.deepEqual([...watch.onUpdate!(node('n'), node('n'))], ['n'])
  assert.deepEqual([...watch.onDelete!(node('n'))], [])
  assert.deepEqual([...watch.onDelete!(new DeletedFinalStateUnknown<Node>('n', undefined))], [])
})

test('Given a node deleted, then its CIDR becomes free; under deletion it does not', () => {
  const { watch, give, logic } = watching()
  assert.deepEqual([give(node('a')), give(node('b'))], [['10.0.0.0/30'], ['10.0.0.4/30']])
  drive(logic.reconcile(leaving(node('a', ['10.0.0.0/30']))))
  assert.equal(give(node('c')), undefined)
  watch.onDelete!(node('a', ['10.0.0.0/30']))
  assert.deepEqual(give(node('c')), ['10.0.0.0/30'])
})

test('a namesake that came while the watch had a gap does not keep what the other had', () => {
  const { watch, give } = watching()
  give(node('a'))
  give(node('b'))
  watch.onUpdate!(node('a', ['10.0.0.0/30']), node('a', [], 'another'))
  assert.deepEqual(give(node('c')), ['10.0.0.0/30'])
  // One that has the same range keeps it.
  watch.onUpdate!(node('b', ['10.0.0.4/30']), node('b', ['10.0.0.4/30'], 'another'))
  assert.equal(give(node('d')), undefined)
})

test('of a node of which only the name is known, what was proposed is free', () => {
  const { watch, give, logic } = watching()
  give(node('a'))
  drive(logic.reconcile(node('b')), {
    onWrite: () => ({ ok: false, error: new Error('lost'), attempted: true }),
  })
  assert.equal(give(node('c')), undefined)
  watch.onDelete!(new DeletedFinalStateUnknown<Node>('b', undefined))
  assert.deepEqual(give(node('c')), ['10.0.0.4/30'])
})

test('queue, workers, event source and account are those of upstream', () => {
  const { logic } = watching()
  const { queueName, workers, eventComponent, maxRetries } = logic
  assert.deepEqual(
    [queueName, workers, eventComponent, maxRetries],
    ['cidrallocator_node', 30, 'cidrAllocator', undefined],
  )
  const { name, aliases, serviceAccount } = nodeIpamController
  assert.deepEqual(
    [name, aliases, serviceAccount],
    ['node-ipam-controller', ['nodeipam'], 'node-controller'],
  )
})

test('a cached node that is gone is no work', () => {
  const { logic, informers } = watching()
  assert.equal(logic.observe('n'), undefined)
  informers.fill(node('n'))
  assert.equal(logic.observe('n')?.metadata?.name, 'n')
})
