import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext as Test } from 'node:test'
import { findCondition, resources } from '@gyropilot/api'
import type { Lease, Node, Pod } from '@gyropilot/api'
import { startLoop, statusError, testContext } from '@gyropilot/runtime/testing'
import type { FakeRequest } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { START_MS, condition, lease, node, pod, taint } from './fixtures.ts'
import type { Status } from './fixtures.ts'
import { nodeLifecycleController } from './index.ts'

interface Given {
  readonly nodes: readonly Node[]
  readonly leases?: readonly Lease[]
  readonly pods?: readonly Pod[]
  readonly onRequest?: (request: FakeRequest) => unknown
}

const STEP_MS = 1_000

/** A controller at work; its caches are up to date at every second. */
async function watching(t: Test, { nodes, leases = [], pods = [], onRequest }: Given) {
  const context = testContext({
    name: 'node-lifecycle-controller',
    configuration: defaultControllersConfiguration,
  })
  const { client, informers, clock, metrics, events } = context
  client.onRequest = onRequest
  for (const each of nodes) client.put(resources.nodes, each)
  for (const each of leases) client.put(resources.leases, each)
  for (const each of pods) client.put(resources.pods, each)
  const refresh = (): void => {
    for (const type of [resources.nodes, resources.pods, resources.leases] as const) {
      const { lister } = informers.informer(type as typeof resources.nodes)
      for (const object of client.list(type)) {
        const { namespace, name, resourceVersion } = object.metadata!
        const cached = lister.get(namespace, name!)
        if (cached?.metadata?.resourceVersion !== resourceVersion)
          informers.apply(type as typeof resources.nodes, object as Node)
      }
    }
  }
  refresh()
  const controller = await nodeLifecycleController.build(context)
  t.after(startLoop(controller, clock).stop)
  const nodeNamed = (name: string): Node => client.get(resources.nodes, undefined, name) as Node
  const world = {
    client,
    metrics,
    events,
    node: nodeNamed,
    ready: (name: string) => findCondition(nodeNamed(name).status?.conditions, 'Ready')?.status,
    podReady: (name: string) =>
      findCondition((client.get(resources.pods, 'ns', name) as Pod).status?.conditions, 'Ready')
        ?.status,
    /** Keys of its NoExecute taints, without their prefix. */
    noExecute: (name: string) =>
      (nodeNamed(name).spec?.taints ?? [])
        .filter(({ effect }) => effect === 'NoExecute')
        .map(({ key }) => key.split('/')[1]),
    statusWrites: () => client.requested('update').length + client.requested('patch').length,
    /** What events are about, each once. */
    regarding: (kind: string) => [
      ...new Set(
        events
          .filter(({ regarding }) => regarding.kind === kind)
          .map(({ regarding }) => JSON.stringify(regarding)),
      ),
    ],
    reasons: (kind: string) =>
      events.filter(({ regarding }) => regarding.kind === kind).map(({ reason }) => reason),
    now: () => clock.nowMs(),
    removeNode(name: string) {
      const gone = nodeNamed(name)
      client.remove(resources.nodes, gone)
      informers.remove(resources.nodes, gone)
    },
    /** `beating`: nodes that renew their leases meanwhile. */
    async advance(forMs: number, beating: readonly string[] = []) {
      for (let doneMs = 0; doneMs < forMs; doneMs += STEP_MS) {
        for (const name of beating) client.put(resources.leases, lease(name, clock.nowMs()))
        refresh()
        await clock.advance(STEP_MS)
      }
      refresh()
      await clock.advance(0)
    },
    setReady(name: string, status: Status) {
      const { metadata, spec } = nodeNamed(name)
      const conditions = [condition('Ready', status, clock.nowMs())]
      client.put(resources.nodes, { ...nodeNamed(name), metadata, spec, status: { conditions } })
    },
  }
  await clock.advance(0)
  return world
}

test('Given a node created long ago with no status, when one pass runs, then four conditions are Unknown/NodeStatusNeverUpdated with lastHeartbeatTime = creationTimestamp', async (t) => {
  const createdMs = START_MS - 3_600_000
  const world = await watching(t, { nodes: [node('n', { createdMs })] })
  const conditions = world.node('n').status?.conditions ?? []
  assert.deepEqual(
    conditions,
    ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: '2025-12-31T23:00:00Z',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
  )
  const [written] = world.client.requested('update')
  assert.equal(
    `${written?.path}/${String(written?.options['subresource'])}`,
    '/api/v1/nodes/n/status',
  )
})

test('Given a node created recently without status, then nothing is written', async (t) => {
  const world = await watching(t, { nodes: [node('n')] })
  await world.advance(60_000)
  assert.deepEqual(world.client.requests, [])
  await world.advance(6_000)
  assert.equal(world.ready('n'), 'Unknown')
})

test('Given status older than the grace but a renewed lease, then no write', async (t) => {
  const heartbeatMs = START_MS - 3_600_000
  const world = await watching(t, { nodes: [node('n', { ready: 'True', heartbeatMs })] })
  await world.advance(120_000, ['n'])
  assert.deepEqual(world.client.requests, [])
})

test('Given status recent and lease expired, then no write', async (t) => {
  const leases = [lease('n', START_MS - 3_600_000)]
  const world = await watching(t, { nodes: [node('n', { ready: 'True' })], leases })
  for (let i = 0; i < 4; i++) {
    await world.advance(30_000)
    world.setReady('n', 'True')
  }
  assert.deepEqual(world.client.requests, [])
})

test('Given both expired, then Unknown/NodeStatusUnknown is written and pods get Ready=False', async (t) => {
  const world = await watching(t, {
    nodes: [node('n', { ready: 'True' }), node('other', { ready: 'True' })],
    leases: [lease('n', START_MS)],
    pods: [pod('p', 'n'), pod('stays', 'other'), pod('silent', 'n', 'absent')],
  })
  await world.advance(50_000, ['other'])
  assert.deepEqual(world.client.requests, [])
  await world.advance(6_000, ['other'])
  const ready = findCondition(world.node('n').status?.conditions, 'Ready')!
  assert.equal(`${ready.status} ${ready.reason}`, 'Unknown NodeStatusUnknown')
  assert.equal(ready.message, 'Kubelet stopped posting node status.')
  assert.equal(ready.lastHeartbeatTime, '2026-01-01T00:00:00Z')
  assert.deepEqual(['p', 'stays', 'silent'].map(world.podReady), ['False', 'True', undefined])
  const marked = findCondition(
    (world.client.get(resources.pods, 'ns', 'p') as Pod).status?.conditions,
    'Ready',
  )
  assert.equal(marked?.reason, 'r')
  assert.deepEqual(world.reasons('Pod'), ['NodeNotReady'])
  assert.deepEqual(world.reasons('Node').slice(2), ['NodeNotReady'])
  const references = ['n', 'other'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `${name}-uid` },
  }))
  assert.deepEqual(
    world.regarding('Node'),
    references.map((reference) => JSON.stringify(reference)),
  )
  const writes = world.statusWrites()
  await world.advance(60_000, ['other'])
  assert.equal(world.statusWrites(), writes)
})

test('Given a pod status update that fails once, then the next pass marks the pod although Ready no longer transitions', async (t) => {
  let failures = 0
  const world = await watching(t, {
    nodes: [node('n', { ready: 'True' })],
    pods: [pod('p', 'n')],
    onRequest({ verb, path }) {
      if (verb !== 'patch' || !path.includes('/pods/') || failures > 0) return undefined
      failures++
      throw statusError(500, 'InternalError', 'no')
    },
  })
  await world.advance(56_000)
  assert.equal(failures, 1)
  assert.deepEqual([world.ready('n'), world.podReady('p')], ['Unknown', 'True'])
  await world.advance(5_000)
  assert.equal(world.podReady('p'), 'False')
  assert.deepEqual(world.reasons('Node'), ['RegisteredNode', 'NodeNotReady'])
})

/** Two nodes that keep the zone from being down. */
const steady = [node('a', { ready: 'True' }), node('b', { ready: 'True' })]
const STEADY = ['a', 'b']

test('Given Ready=False then True, then the NoExecute taint appears and is removed', async (t) => {
  const world = await watching(t, { nodes: [...steady, node('n', { ready: 'False' })] })
  await world.advance(1_000, [...STEADY, 'n'])
  assert.deepEqual(world.noExecute('n'), ['not-ready'])
  assert.equal(world.metrics.value('node_collector_evictions_total', { zone: '' }), 1)
  // The kubelet said so itself: nobody else tells of it.
  assert.ok(!world.reasons('Node').includes('NodeNotReady'))
  world.setReady('n', 'True')
  await world.advance(6_000, [...STEADY, 'n'])
  assert.deepEqual(world.node('n').spec?.taints ?? [], [])
})

test('Given an Unknown node in a partially disrupted small zone, then it is not tainted', async (t) => {
  const lost = ['x', 'y', 'z'].map((name) => node(name, { ready: 'Unknown' }))
  const world = await watching(t, { nodes: [...steady, ...lost] })
  // The token that the zone began with is spent before the first look.
  await world.advance(60_000, STEADY)
  const tainted = ['x', 'y', 'z'].filter((name) => world.noExecute(name).length > 0)
  assert.deepEqual(tainted, [])
  assert.equal(world.metrics.value('node_collector_zone_health', { zone: '' }), 40)
  assert.equal(world.metrics.value('node_collector_zone_size', { zone: '' }), 5)
  assert.equal(world.metrics.value('node_collector_unhealthy_nodes_in_zone', { zone: '' }), 3)
})

test('Given two nodes, when a node is queued a second time, then it is tainted once per not-ready episode', async (t) => {
  const lost = ['x', 'y'].map((name) => node(name, { ready: 'False' }))
  const world = await watching(t, { nodes: [...steady, node('c', { ready: 'True' }), ...lost] })
  const alive = [...STEADY, 'c', 'x', 'y']
  await world.advance(60_000, alive)
  const tainted = (): number | undefined =>
    world.metrics.value('node_collector_evictions_total', { zone: '' })
  assert.equal(tainted(), 2)
  world.setReady('x', 'True')
  await world.advance(30_000, alive)
  world.setReady('x', 'False')
  await world.advance(30_000, alive)
  assert.equal(tainted(), 3)
  assert.deepEqual(world.noExecute('x'), ['not-ready'])
})

test('a taint that somebody takes away comes back at the rate of the zone', async (t) => {
  const world = await watching(t, { nodes: [...steady, node('x', { ready: 'False' })] })
  await world.advance(30_000, [...STEADY, 'x'])
  const { spec: _, ...bare } = world.node('x')
  world.client.put(resources.nodes, bare)
  await world.advance(6_000, [...STEADY, 'x'])
  assert.deepEqual(world.noExecute('x'), ['not-ready'])
})

test('nodes of a zone are tainted ten seconds apart', async (t) => {
  const names = ['x', 'y', 'z']
  const lost = names.map((name) => node(name, { ready: 'False' }))
  const more = ['c', 'd', 'e'].map((name) => node(name, { ready: 'True' }))
  const world = await watching(t, { nodes: [...steady, ...more, ...lost] })
  const alive = [...STEADY, 'c', 'd', 'e', ...names]
  const at: number[] = []
  for (let second = 1; second <= 30; second++) {
    await world.advance(1_000, alive)
    const count = names.filter((name) => world.noExecute(name).length > 0).length
    while (at.length < count) at.push(second)
  }
  assert.deepEqual(at, [1, 11, 21])
})

test('Given `not-ready` taint and Ready becomes Unknown, then taints are swapped', async (t) => {
  const world = await watching(t, {
    nodes: [...steady, node('x', { ready: 'False' }), node('y', { ready: 'False' })],
  })
  await world.advance(12_000, [...STEADY, 'x', 'y'])
  assert.deepEqual([world.noExecute('x'), world.noExecute('y')], [['not-ready'], ['not-ready']])
  for (const name of ['x', 'y']) world.setReady(name, 'Unknown')
  // Both at once, whatever the rate is.
  await world.advance(6_000, [...STEADY, 'x', 'y'])
  assert.deepEqual([world.noExecute('x'), world.noExecute('y')], [['unreachable'], ['unreachable']])
})

test('Given a pod bound to a node with Ready False, then it is marked not ready by the pod worker; with unknown node health it is not', async (t) => {
  const world = await watching(t, { nodes: [...steady, node('n', { ready: 'False' })] })
  await world.advance(2_000, [...STEADY, 'n'])
  world.client.put(resources.pods, pod('p', 'n'))
  world.client.put(resources.pods, pod('fine', 'a'))
  world.client.put(resources.pods, pod('stranger', 'nowhere'))
  await world.advance(1_000, [...STEADY, 'n'])
  assert.deepEqual(['p', 'fine', 'stranger'].map(world.podReady), ['False', 'True', 'True'])
})

const zoned = (first: Status, second: Status): readonly Node[] => [
  node('x', { ready: first, zone: 'one' }),
  node('y', { ready: second, zone: 'two' }),
]

test('Given both zones down and one recovers, then states are Full and Normal', async (t) => {
  const world = await watching(t, { nodes: zoned('Unknown', 'Unknown') })
  await world.advance(120_000)
  assert.deepEqual([world.noExecute('x'), world.noExecute('y')], [[], []])
  world.setReady('y', 'True')
  await world.advance(6_000, ['y'])
  const health = (zone: string) =>
    world.metrics.value('node_collector_zone_health', { zone: `:\0:${zone}` })
  assert.deepEqual([health('one'), health('two')], [0, 100])
  // The zone that is still down taints at the usual rate, from an empty bucket.
  await world.advance(3_000, ['y'])
  assert.deepEqual(world.noExecute('x'), [])
  await world.advance(10_000, ['y'])
  assert.deepEqual(world.noExecute('x'), ['unreachable'])
})

test('all zones going down takes the taints of all nodes away, and coming back gives each its grace period anew', async (t) => {
  const world = await watching(t, { nodes: zoned('Unknown', 'True') })
  await world.advance(2_000, ['y'])
  assert.deepEqual(world.noExecute('x'), ['unreachable'])
  await world.advance(60_000)
  assert.equal(world.ready('y'), 'Unknown')
  assert.deepEqual([world.noExecute('x'), world.noExecute('y')], [[], []])
  world.setReady('x', 'True')
  world.setReady('y', 'True')
  await world.advance(5_000)
  // Silent from now on, and alive for a whole grace period.
  await world.advance(44_000)
  assert.deepEqual([world.ready('x'), world.ready('y')], ['True', 'True'])
})

test('a taint that was put on while the last zone was found to be down is taken away too', async (t) => {
  const held = Promise.withResolvers<undefined>()
  const world = await watching(t, {
    nodes: zoned('True', 'True'),
    onRequest: ({ verb, path }) =>
      verb === 'update' && path.endsWith('/y') ? held.promise : undefined,
  })
  // Both fall silent in one look; while y's status is on its way x gets its taint.
  await world.advance(60_000)
  assert.deepEqual([world.ready('x'), world.ready('y')], ['Unknown', 'True'])
  assert.deepEqual(world.noExecute('x'), ['unreachable'])
  held.resolve(undefined)
  await world.advance(10_000)
  assert.equal(world.ready('y'), 'Unknown')
  assert.deepEqual([world.noExecute('x'), world.noExecute('y')], [[], []])
})

test('Given the only ready node is excluded from disruption checks, then the zone is FullDisruption', async (t) => {
  const labels = { 'node.kubernetes.io/exclude-disruption': '' }
  const world = await watching(t, {
    nodes: [node('x', { ready: 'Unknown' }), node('y', { ready: 'True', labels })],
  })
  await world.advance(60_000, ['y'])
  assert.equal(world.metrics.value('node_collector_zone_health', { zone: '' }), 0)
  assert.deepEqual(world.noExecute('x'), [])
})

test('Given a registered node, then the RegisteredNode event carries the node UID', async (t) => {
  const world = await watching(t, { nodes: [node('n', { ready: 'True' })] })
  const [event, ...more] = world.events
  assert.deepEqual(more, [])
  assert.equal(event?.regarding.metadata?.uid, 'n-uid')
  assert.equal(event.component, 'node-controller')
  assert.equal(event.message, 'Node n event: Registered Node n in Controller')
})

test('a node is forgotten when it goes, and is registered anew under its name', async (t) => {
  const world = await watching(t, { nodes: [...steady, node('n', { ready: 'True' })] })
  await world.advance(58_000, STEADY)
  assert.equal(world.ready('n'), 'Unknown')
  world.removeNode('n')
  await world.advance(6_000, STEADY)
  world.client.put(resources.nodes, node('n', { createdMs: world.now() }))
  await world.advance(50_000, STEADY)
  assert.deepEqual(world.node('n').status?.conditions, [])
  const ofNode = world.events.filter(({ regarding }) => regarding.metadata?.name === 'n')
  assert.deepEqual(
    ofNode.map(({ message }) => message),
    [
      'Node n event: Registered Node n in Controller',
      'Node n status is now: NodeNotReady',
      'Node n event: Removing Node n from Controller',
      'Node n event: Registered Node n in Controller',
    ],
  )
})

test('the first look takes NoExecute taints away, they come back at the rate of the zone', async (t) => {
  const taints = [taint('unreachable')]
  const lost = ['x', 'y'].map((name) => node(name, { ready: 'Unknown', taints }))
  const world = await watching(t, { nodes: [...steady, node('c', { ready: 'True' }), ...lost] })
  const tainted = (): number => ['x', 'y'].filter((name) => world.noExecute(name).length > 0).length
  // Where that meets the other taints of the node it is tried again 100 ms later, and the zone may give one back at once, with a time.
  await world.advance(1_000, [...STEADY, 'c'])
  const left = ['x', 'y'].flatMap((name) => world.node(name).spec?.taints ?? [])
  assert.ok(!left.some(({ effect, timeAdded }) => effect === 'NoExecute' && !timeAdded))
  await world.advance(8_000, [...STEADY, 'c'])
  assert.equal(tainted(), 1)
  await world.advance(10_000, [...STEADY, 'c'])
  assert.equal(tainted(), 2)
})
