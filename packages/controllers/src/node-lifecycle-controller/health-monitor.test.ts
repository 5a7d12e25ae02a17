import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { WorkClock, statusError, testContext } from '@gyropilot/runtime/testing'
import type { FakeRequest } from '@gyropilot/runtime/testing'
import { defaultNodeLifecycleConfiguration as configuration } from './config.ts'
import { START_MS, node, pod } from './fixtures.ts'
import { HealthMonitor } from './health-monitor.ts'

const LONG_AGO_MS = START_MS - 3_600_000
const PASS_SECONDS = 'node_collector_update_all_nodes_health_duration_seconds'
const NODE_SECONDS = 'node_collector_update_node_health_duration_seconds'

/** One monitor whose passes the test makes; cache and server hold the same. */
function monitoring(nodes: readonly Node[], pods: readonly Pod[] = []) {
  const context = testContext({ name: 'node-lifecycle-controller', configuration: {} })
  const { client, informers, clock, metrics, events } = context
  const stopping = new AbortController()
  const apply = (...changed: readonly Node[]): void => {
    for (const each of changed) client.put(resources.nodes, each)
    refresh()
  }
  const refresh = (): void => {
    for (const each of client.list(resources.nodes)) informers.apply(resources.nodes, each as Node)
    for (const each of client.list(resources.pods)) informers.apply(resources.pods, each as Pod)
  }
  for (const each of pods) client.put(resources.pods, each)
  apply(...nodes)
  const monitor = new HealthMonitor(context, configuration, stopping.signal)
  return {
    client,
    clock,
    events,
    metrics,
    monitor,
    stopping,
    apply,
    async pass(afterMs = 0) {
      await clock.advance(afterMs)
      await monitor.pass()
      refresh()
    },
    remove(name: string) {
      const gone = client.get(resources.nodes, undefined, name) as Node
      client.remove(resources.nodes, gone)
      informers.remove(resources.nodes, gone)
    },
    ofZone: (family: string, zone: string) =>
      metrics.value(`node_collector_${family}`, { zone: zone && `:\0:${zone}` }),
    podPatches: () =>
      client.requested('patch').filter(({ path }) => path.includes('/pods/')).length,
  }
}

test('nodes are told of by name, and their zone begins without taints', async () => {
  const world = monitoring(['c', 'a', 'b'].map((name) => node(name, { ready: 'True', zone: 'z' })))
  await world.pass()
  assert.deepEqual(
    world.events.map(({ regarding }) => regarding.metadata?.name),
    ['a', 'b', 'c'],
  )
  assert.equal(world.ofZone('evictions_total', 'z'), 0)
})

test('new nodes are told of in as many turns as it takes', async () => {
  const context = testContext({ name: 'node-lifecycle-controller', configuration: {} })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    context.informers.apply(resources.nodes, node(name, { ready: 'True' }))
  const clock = new WorkClock(context.clock)
  const told: unknown[] = []
  const recorder: typeof context.recorder = () => ({
    record({ regarding }) {
      clock.work(8)
      told.push(regarding.metadata?.name)
    },
  })
  const { signal } = new AbortController()
  const passing = new HealthMonitor({ ...context, clock, recorder }, configuration, signal).pass()
  await context.clock.advance(0)
  await passing
  assert.deepEqual(told, ['a', 'b', 'c', 'd', 'e', 'f'])
  assert.equal(clock.longestTurnMs, 16)
})

test('what a pass and each of its nodes took is what went by meanwhile', async () => {
  const world = monitoring([node('n', { ready: 'True' })])
  await world.pass(7_000)
  assert.deepEqual(
    [world.metrics.observed(PASS_SECONDS), world.metrics.observed(NODE_SECONDS)],
    [[0], [0]],
  )
})

test('of a zone that nobody is in any more all is well', async () => {
  const world = monitoring([
    node('x', { ready: 'False', zone: 'one' }),
    node('y', { ready: 'True', zone: 'two' }),
  ])
  await world.pass()
  assert.deepEqual([world.ofZone('zone_size', 'one'), world.ofZone('zone_health', 'one')], [1, 0])
  world.remove('x')
  await world.pass()
  assert.deepEqual([world.ofZone('zone_size', 'one'), world.ofZone('zone_health', 'one')], [0, 100])
  assert.equal(world.ofZone('zone_size', 'two'), 1)
})

test('a zone of nodes without a vote is well', async () => {
  const labels = { 'node.kubernetes.io/exclude-disruption': '' }
  const world = monitoring([
    node('x', { ready: 'False', zone: 'one', labels }),
    node('y', { ready: 'True', zone: 'two' }),
  ])
  await world.pass()
  assert.deepEqual([world.ofZone('zone_size', 'one'), world.ofZone('zone_health', 'one')], [0, 100])
})

test('a node that goes is told of as it was last seen, and nothing of it is remembered', async () => {
  const world = monitoring([node('n', { ready: 'True' })])
  await world.pass()
  const again = node('n', { ready: 'True' })
  world.apply({ ...again, metadata: { ...again.metadata, uid: 'later' } })
  await world.pass()
  assert.ok(world.monitor.recordOf('n'))
  world.remove('n')
  await world.pass()
  assert.equal(world.monitor.recordOf('n'), undefined)
  assert.equal(world.events.at(-1)?.regarding.metadata?.uid, 'later')
})

test('when a first zone is up again all nodes have their grace period anew', async () => {
  const world = monitoring([
    node('x', { ready: 'Unknown', zone: 'one' }),
    node('y', { ready: 'Unknown', zone: 'two' }),
  ])
  await world.pass()
  await world.pass(20_000)
  assert.equal(world.monitor.recordOf('x')?.probeMs, 0)
  world.apply(node('y', { ready: 'True', zone: 'two', heartbeatMs: START_MS + 40_000 }))
  await world.pass(20_000)
  const record = world.monitor.recordOf('x')
  assert.equal(record?.probeMs, 40_000)
  assert.equal(record?.ready?.status, 'Unknown')
  await world.pass(5_000)
  assert.equal(world.monitor.recordOf('x')?.probeMs, 40_000)
})

test('a wall clock that is set says nothing of a node, neither that it is silent nor that it is not', async () => {
  const world = monitoring([node('n', { ready: 'True' })])
  const ready = (): string | undefined =>
    (world.client.get(resources.nodes, undefined, 'n') as Node).status?.conditions?.[0]?.status
  await world.pass()
  world.clock.jumpWallTime(3_600_000)
  await world.pass(5_000)
  assert.equal(ready(), 'True')
  world.clock.jumpWallTime(-7_200_000)
  await world.pass(45_000)
  assert.equal(ready(), 'True')
  await world.pass(5_000)
  assert.equal(ready(), 'Unknown')
})

test('a node whose health could not be written has no vote', async () => {
  const world = monitoring([node('lost', { createdMs: LONG_AGO_MS }), node('y', { ready: 'True' })])
  world.client.onRequest = ({ verb }: FakeRequest) => {
    if (verb === 'update') throw statusError(500, 'InternalError', 'no')
    return undefined
  }
  const passed = world.pass()
  await world.clock.advance(1_000)
  await passed
  assert.equal(world.ofZone('zone_size', ''), 1)
})

test('eight nodes are looked at beside each other', async () => {
  const names = Array.from({ length: 9 }, (_, index) => `n${index}`)
  const world = monitoring(names.map((name) => node(name, { createdMs: LONG_AGO_MS })))
  let asked = 0
  const refusing = Promise.withResolvers<undefined>()
  world.client.onRequest = ({ verb }: FakeRequest) => {
    if (verb !== 'update') return undefined
    asked++
    return refusing.promise
  }
  const passed = world.pass()
  await world.clock.advance(0)
  assert.equal(asked, 8)
  refusing.resolve(undefined)
  await passed
  assert.equal(asked, 9)
})

test('a pass that is stopped judges no zone', async () => {
  const world = monitoring([node('n', { ready: 'True' })])
  world.stopping.abort()
  await world.pass()
  assert.equal(world.ofZone('zone_size', ''), undefined)
})

/** A node that fell silent, whose pod could not be marked. */
async function unmarked() {
  const world = monitoring(
    [node('n', { ready: 'True' }), node('y', { ready: 'True' })],
    [pod('p', 'n')],
  )
  await world.pass()
  let failing = true
  world.client.onRequest = ({ verb, path }: FakeRequest) => {
    if (failing && verb === 'patch' && path.includes('/pods/'))
      throw statusError(500, 'InternalError', 'no')
    return undefined
  }
  world.apply(node('y', { ready: 'True', heartbeatMs: START_MS + 50_000 }))
  await world.pass(50_001)
  failing = false
  assert.equal(world.podPatches(), 1)
  return world
}

test('pods that could not be marked are marked in the next pass, and then no more', async () => {
  const world = await unmarked()
  await world.pass()
  assert.equal(world.podPatches(), 2)
  world.client.put(resources.pods, pod('p', 'n'))
  world.apply()
  await world.pass()
  assert.equal(world.podPatches(), 2)
})

test('nothing is left to mark of a node that is gone, or ready again', async () => {
  const gone = await unmarked()
  gone.monitor.nodeDeleted('n')
  await gone.pass()
  assert.equal(gone.podPatches(), 1)
  const back = await unmarked()
  back.apply(node('n', { ready: 'True', heartbeatMs: START_MS + 51_000 }))
  await back.pass()
  back.apply(node('n', { ready: 'False', heartbeatMs: START_MS + 52_000 }))
  await back.pass()
  assert.equal(back.podPatches(), 1)
})
